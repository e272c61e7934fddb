package config

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// MarshalJSON writes c as Print does, secrets hidden, with the names of the
// file.
func (c *Config) MarshalJSON() ([]byte, error) {
	var file bytes.Buffer
	if err := c.Print(&file); err != nil {
		return nil, err
	}
	var settings map[string]any
	if err := yaml.Unmarshal(file.Bytes(), &settings); err != nil {
		return nil, err
	}
	return json.Marshal(settings)
}
