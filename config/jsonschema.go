package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"
)

// JSONSchema is a JSON Schema (draft 2020-12) of the configuration file, for
// editors and generators. It accepts whatever [Config.Print] writes, and
// refuses names, types, forms, choices and bounds that are wrong in
// themselves, and some that Load takes to no use, such as an empty host. What
// depends on other settings or on the machine is for [Load] alone to judge.
func JSONSchema() ([]byte, error) {
	w := schemaWriter{defs: make(map[string]*jsonSchema), defaults: defaults()}
	file := w.group(root, "")
	file.Schema = "https://json-schema.org/draft/2020-12/schema"
	file.Title = "Configuration of murmurate"
	file.Defs = w.defs
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(file)
	return text.Bytes(), err
}

// jsonSchema is a JSON Schema as far as settings need one.
type jsonSchema struct {
	Schema      string                 `json:"$schema,omitempty"`
	Title       string                 `json:"title,omitempty"`
	Description string                 `json:"description,omitempty"`
	Ref         string                 `json:"$ref,omitempty"`
	Type        any                    `json:"type,omitempty"` // a name, or several
	Enum        []string               `json:"enum,omitempty"`
	Pattern     string                 `json:"pattern,omitempty"`
	Minimum     *int64                 `json:"minimum,omitempty"`
	Maximum     *int64                 `json:"maximum,omitempty"`
	Default     any                    `json:"default,omitempty"`
	MinItems    int                    `json:"minItems,omitempty"`
	Items       *jsonSchema            `json:"items,omitempty"`
	Required    []string               `json:"required,omitempty"`
	AnyOf       []*jsonSchema          `json:"anyOf,omitempty"`
	Properties  map[string]*jsonSchema `json:"properties,omitempty"`
	Additional  *bool                  `json:"additionalProperties,omitempty"`
	Defs        map[string]*jsonSchema `json:"$defs,omitempty"`
}

// elementNames are what the schema calls the groups that lists consist of, by
// their Go type.
var elementNames = map[string]string{
	"Policy": "policy", "Field": "field", "LimitSpec": "limit", "TierSet": "tier",
	"Override": "override", "Exemption": "exemption", "MethodCost": "method_cost",
}

// schemaWriter turns the schema of this package into one in JSON.
type schemaWriter struct {
	defs     map[string]*jsonSchema // the elements of lists, by elementNames
	defaults map[string]any         // of settings, by path
}

// group is that of settings by name. Those at the top have an empty path.
func (w *schemaWriter) group(s *schema, path string) *jsonSchema {
	j := &jsonSchema{Type: "object", Properties: make(map[string]*jsonSchema), Additional: new(false)}
	for _, name := range s.names {
		field := s.fields[name]
		j.Properties[name] = w.field(field, join(path, name))
		if fields[field.about].required {
			j.Required = append(j.Required, name)
		}
	}
	for _, c := range conditions[s.goType] {
		way := &jsonSchema{Required: c.names}
		if c.field != "" {
			way.Properties = map[string]*jsonSchema{c.field: {Enum: []string{c.value}}}
		}
		j.AnyOf = append(j.AnyOf, way)
	}
	return j
}

// field is that of the setting at path.
func (w *schemaWriter) field(s *schema, path string) *jsonSchema {
	told := fields[s.about]
	var j *jsonSchema
	switch s.kind {
	case group:
		j = w.group(s, path)
		j.Type = []string{"object", "null"} // everything in it may be commented out
	case list:
		j = &jsonSchema{Type: []string{"array", "null"}, Items: w.element(s.elem, &told)}
		if told.nonempty {
			j.Type, j.MinItems = "array", 1
		}
	default:
		j = scalar(s.kind, &told)
	}
	if s.short != "" {
		short := s.fields[s.short]
		alone := fields[short.about]
		j = &jsonSchema{AnyOf: []*jsonSchema{scalar(short.kind, &alone), j}}
	}
	j.Description = told.text
	if j.Default = w.defaults[path]; told.absent != nil {
		j.Default = told.absent
	}
	return j
}

// element is that of what a list consists of.
func (w *schemaWriter) element(s *schema, told *about) *jsonSchema {
	if s.kind != group {
		return scalar(s.kind, told)
	}
	name := elementNames[s.goType]
	if w.defs[name] == nil {
		w.defs[name] = w.group(s, name) // a path that no setting has, so there are no defaults
	}
	return &jsonSchema{Ref: "#/$defs/" + name}
}

// few is the largest number that nobody writes with k, M or G.
const few = 999

// scalar is that of one value.
func scalar(k kind, told *about) *jsonSchema {
	j := &jsonSchema{Type: "string", Enum: told.choices, Pattern: told.pattern}
	switch {
	case k == truth:
		j.Type = "boolean"
	case k == number:
		j.Type, j.Minimum, j.Maximum = "integer", &told.min, &told.max
		if told.max > few {
			j.Type, j.Pattern = []string{"integer", "string"}, sizePattern
		}
	case k == text && j.Enum == nil && j.Pattern == "":
		j.Type = []string{"string", "number"} // YAML takes a key of digits for a number
	}
	return j
}

// defaults are those of the settings, as they are written, by path.
func defaults() map[string]any {
	all := make(map[string]any)
	of := reflect.ValueOf(Default()).Elem()
	for _, s := range settings() {
		value := of.FieldByIndex(s.index).Interface()
		if d, ok := value.(time.Duration); ok {
			value = d.String()
		}
		all[s.path] = value
	}
	return all
}
