package config

import "reflect"

// live are the settings, besides the policies, that a running node can change.
var live = map[string]bool{"log.level": true}

// NeedRestart names the settings in which next differs from c, and which a
// node that runs by c only takes over when it is started again. They are in
// the order of the file, without their values.
func (c *Config) NeedRestart(next *Config) []string {
	var names []string
	old, changed := reflect.ValueOf(c).Elem(), reflect.ValueOf(next).Elem()
	for _, s := range settings() {
		if live[s.path] {
			continue
		}
		if !reflect.DeepEqual(old.FieldByIndex(s.index).Interface(), changed.FieldByIndex(s.index).Interface()) {
			names = append(names, s.path)
		}
	}
	return names
}
