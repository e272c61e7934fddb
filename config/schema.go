package config

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"
)

// kind is what a place in the configuration holds.
type kind uint8

const (
	group kind = iota // settings by name
	list
	text
	number // whole and not negative
	truth
	duration
)

// schema is what may stand at one place, as the Go type says that it is read
// into: the yaml tags name the settings, the tag secret:"true" marks
// those that are never shown, and the tag short:"NAME" the groups that may be
// written as the value of one of their settings.
type schema struct {
	kind   kind
	secret bool
	about  string             // of a setting: where fields has it, TYPE.NAME
	elem   *schema            // of a list
	goType string             // of a group: the name of its struct
	short  string             // of a group: the name of the setting that may be written alone
	names  []string           // of a group, in the order of its struct
	fields map[string]*schema // of a group
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	root         = schemaOf(reflect.TypeFor[Config]())
)

func schemaOf(t reflect.Type) *schema {
	switch {
	case t == durationType:
		return &schema{kind: duration}
	case t.Kind() == reflect.Pointer:
		return schemaOf(t.Elem())
	case t.Kind() == reflect.Slice:
		return &schema{kind: list, elem: schemaOf(t.Elem())}
	case t.Kind() == reflect.String:
		return &schema{kind: text}
	case t.Kind() == reflect.Bool:
		return &schema{kind: truth}
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return &schema{kind: number}
	case t.Kind() != reflect.Struct:
		panic(fmt.Sprintf("config: no setting can be of type %v", t)) // a mistake in config.go
	}
	s := &schema{kind: group, goType: t.Name(), fields: make(map[string]*schema)}
	for field := range t.Fields() {
		if !field.IsExported() {
			continue
		}
		if field.Anonymous { // its settings stand among the others
			within := schemaOf(field.Type)
			s.names = append(s.names, within.names...)
			maps.Copy(s.fields, within.fields)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		of := schemaOf(field.Type)
		of.about = t.Name() + "." + name
		of.short = field.Tag.Get("short")
		of.secret = field.Tag.Get("secret") == "true"
		s.names = append(s.names, name)
		s.fields[name] = of
	}
	return s
}

// setting is one place that a single variable or flag can set.
type setting struct {
	path string // dotted
	*schema
	index []int // of the field in a Config, for reflect
}

// settings are all of them, in the order of the file. Lists of groups are
// none: they are written in the file only.
func settings() []setting {
	var all []setting
	var walk func(s *schema, path string, index []int)
	walk = func(s *schema, path string, index []int) {
		for i, name := range s.names {
			field := setting{path: path + name, schema: s.fields[name], index: append(index[:len(index):len(index)], i)}
			switch {
			case field.kind == group:
				walk(field.schema, field.path+".", field.index)
			case field.kind != list || field.elem.kind != group:
				all = append(all, field)
			}
		}
	}
	walk(root, "", nil)
	return all
}
