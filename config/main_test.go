package config

import (
	"testing"

	"github.com/murmurate/murmurate/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
