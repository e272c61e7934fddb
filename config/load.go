package config

import (
	"reflect"
	"slices"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// Source is where a configuration comes from. The zero value gives the
// defaults.
type Source struct {
	// File is the path of the configuration file. Empty: none.
	File string
	// Env is the environment as os.Environ gives it. MURMURATE_HTTP_LISTEN
	// sets http.listen; elements of a list stand between commas.
	// MURMURATE_CLUSTER_SECRET_FILE, and the like of the other secrets,
	// names a file that holds the value. A MURMURATE_ variable that is no
	// setting is a fault, except what Kubernetes adds for a Service of that
	// name.
	Env []string
	// Flags are the values of the flags that were given, by the path of
	// their setting, such as "cluster.join".
	Flags map[string]any
}

// Load reads a configuration: flags, then environment, then file, then
// defaults. Its error is [*Faults].
func Load(s Source) (*Config, error) {
	return NewWatch(s).Load()
}

// load goes on from the configuration file. What it reads besides, it reads
// through f.
func load(d *document, s Source, f *files) (*Config, error) {
	env, envFaults := readEnv(s.Env)
	flags, flagFaults := readFlags(s.Flags)
	set := slices.Concat(env, flags)
	o := origins(d, set)
	var faults []Fault
	if dir := d.policiesDir(set); dir != "" {
		if err := d.readPoliciesDir(dir, f); err != nil {
			faults = append(faults, o.fault(problem{path: policiesDirPath, detail: err.Error()}))
		}
	}
	faults = slices.Concat(faults, d.faults, envFaults, flagFaults)
	c, err := merge(d.values, set)
	if err != nil { // the values are of the right types already: only a gap in the schema leads here
		return nil, &Faults{List: append(faults, Fault{File: d.file, Detail: err.Error()})}
	}
	if !d.broken {
		for _, p := range c.problems(o, f) {
			faults = append(faults, o.fault(p))
		}
	}
	if len(faults) > 0 {
		d.sort(faults)
		return nil, &Faults{List: faults}
	}
	c.complete()
	for i := range c.validities {
		c.validities[i].place = o.locate(c.validities[i].path)
	}
	for _, w := range c.policyWarnings() {
		c.warnings = append(c.warnings, o.fault(w))
	}
	d.sort(c.warnings)
	return c, nil
}

// merge lays the assignments, in their order, over the file and the file
// over the defaults. All values are typed as the schema says.
func merge(file map[string]any, set []assignment) (*Config, error) {
	v := viper.New()
	defaults := reflect.ValueOf(Default()).Elem()
	for _, s := range settings() {
		v.SetDefault(s.path, defaults.FieldByIndex(s.index).Interface())
	}
	if err := v.MergeConfigMap(file); err != nil {
		return nil, err
	}
	for _, a := range set {
		if a.value != nil {
			v.Set(a.path, a.value)
		}
	}
	c := new(Config)
	err := v.UnmarshalExact(c, func(dc *mapstructure.DecoderConfig) {
		dc.TagName = "yaml"
		dc.Squash = true // of embedded groups
		dc.WeaklyTypedInput = false
		dc.DecodeHook = nil
	})
	return c, err
}
