package config

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// Every setting needs a restart, or is listed here.
func TestNeedRestart(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		next := Default()
		change(t, reflect.ValueOf(next).Elem().FieldByIndex(s.index))
		var want []string
		if s.path != "log.level" {
			want = []string{s.path}
		}
		if got := Default().NeedRestart(next); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", s.path, got, want)
		}
	}
	next := Default()
	next.Policies, next.Log.Level = nil, "debug"
	if got := Default().NeedRestart(next); got != nil {
		t.Errorf("policies and level: %q, want none", got)
	}
}

// change makes v another value.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch current := v.Interface().(type) {
	case string:
		v.SetString(current + "x")
	case bool:
		v.SetBool(!current)
	case int:
		v.SetInt(int64(current + 1))
	case time.Duration:
		v.SetInt(int64(current + 1))
	case []string:
		v.Set(reflect.ValueOf([]string{"x"}))
	default:
		t.Fatalf("no change for a %T", current)
	}
}
