package config

import (
	"reflect"
	"strings"
)

// live reports whether a node that was started with c can take over the
// setting at path of next while it runs.
func (c *Config) live(next *Config, path string) bool {
	switch {
	case path == "log.level", path == policiesDirPath:
		return true
	case strings.HasPrefix(path, "http.tls."): // a listener goes on speaking what it began with
		return c.HTTP.TLS.Cert != "" && next.HTTP.TLS.Cert != ""
	case strings.HasPrefix(path, "cluster.tls."):
		return c.Cluster.TLS.Cert != "" && next.Cluster.TLS.Cert != ""
	}
	return false
}

// NeedRestart names the settings in which next differs from c, and which a
// node that was started with c only takes over when it is started again: all
// but the policies, policies_dir, log.level and the certificates. Whether
// there is TLS at all needs a restart too. The names are in the order of the
// file, without their values.
func (c *Config) NeedRestart(next *Config) []string {
	var names []string
	old, changed := reflect.ValueOf(c).Elem(), reflect.ValueOf(next).Elem()
	for _, s := range settings() {
		if c.live(next, s.path) {
			continue
		}
		if !reflect.DeepEqual(old.FieldByIndex(s.index).Interface(), changed.FieldByIndex(s.index).Interface()) {
			names = append(names, s.path)
		}
	}
	return names
}
