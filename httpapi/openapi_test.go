package httpapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// described is the document that the API serves. closed makes its objects
// have no other properties than those that it names.
func described(t *testing.T, closed bool) *openapi3.T {
	t.Helper()
	var document any
	if err := json.Unmarshal(serve(full(t).Handler(), "GET", "/openapi.json", "").Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	if closed {
		closeObjects(document)
	}
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func closeObjects(v any) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			closeObjects(element)
		}
	case map[string]any:
		if _, said := v["additionalProperties"]; v["properties"] != nil && !said {
			v["additionalProperties"] = false
		}
		for _, member := range v {
			closeObjects(member)
		}
	}
}

func TestOpenAPIIsValid(t *testing.T) {
	t.Parallel()
	if err := described(t, false).Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

// anyMethodField marks, in the document, a path that answers every method as it
// says of GET.
const anyMethodField = "x-any-method"

func TestOpenAPIHasTheRoutes(t *testing.T) {
	t.Parallel()
	var served, told []string
	for _, r := range append(full(t).routes(), route{method: "GET", path: "/"}) {
		path := strings.NewReplacer("...}", "}", "/*", "/{path}").Replace(r.path)
		served = append(served, r.method+" "+path)
	}
	for path, item := range described(t, false).Paths.Map() {
		for method := range item.Operations() {
			if item.Extensions[anyMethodField] != nil {
				method = anyMethod
			}
			told = append(told, method+" "+path)
		}
	}
	slices.Sort(served)
	slices.Sort(told)
	if !slices.Equal(served, told) {
		t.Errorf("\nserved    %q\ndescribed %q", served, told)
	}
}

// What the document lists is what the program knows.
func TestOpenAPIListsWhatThereIs(t *testing.T) {
	t.Parallel()
	schemas := described(t, false).Components.Schemas
	property := func(schema, name string) *openapi3.Schema {
		p := schemas[schema].Value.Properties[name]
		if p == nil {
			t.Fatalf("%s has no %s", schema, name)
		}
		return p.Value
	}
	var algorithms, sources, units []any
	for _, a := range limiter.Algorithms() {
		algorithms = append(algorithms, a.String())
	}
	for _, name := range limiter.UnitNames() {
		units = append(units, name)
	}
	for _, s := range limiter.Sources() {
		sources = append(sources, s.String())
	}
	for _, list := range []struct {
		name      string
		got, want []any
	}{
		{"algorithm", property("ReplacingLimit", "algorithm").Enum, algorithms},
		{"algorithm of an answer", property("LimitResult", "algorithm").Enum, algorithms},
		{"source", property("Decision", "source").Enum, sources},
		{"unit", property("ReplacingLimit", "unit").Enum, units},
		{"unit of an answer", property("LimitResult", "unit").Enum, append(units, limiter.ConcurrentRequests.String())},
		{"on_unreachable", property("Policy", "on_unreachable").Enum, []any{policy.Local.String(), policy.Allow.String(), policy.Deny.String()}},
	} {
		if !slices.Equal(list.got, list.want) {
			t.Errorf("%s: described %q, there are %q", list.name, list.got, list.want)
		}
	}
	for name, want := range map[string][]string{
		"Check": checkNames, "Batch": batchNames, "NewOverride": overrideNames,
		"ReplacingLimit": append([]string{"durable"}, limitNames...), // which is only shown
		"Acquisition":    acquireNames, "Renewal": renewNames, "Leased": releaseNames, "Settlement": settleNames,
	} {
		if got, want := slices.Sorted(maps.Keys(schemas[name].Value.Properties)), slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
			t.Errorf("%s: described %q, read %q", name, got, want)
		}
	}
	for name := range schemas["Attributes"].Value.Properties {
		if misspelt(strings.ToUpper(name)) != name {
			t.Errorf("%s is an attribute of one's own", name)
		}
	}
	if most := property("Batch", "checks").MaxItems; most == nil || *most != maxBatch {
		t.Errorf("the document says %v checks to a batch", most)
	}
}

func TestOpenAPIDescribesEverything(t *testing.T) {
	t.Parallel()
	document := described(t, false)
	var walk func(path string, s *openapi3.SchemaRef)
	walk = func(path string, s *openapi3.SchemaRef) {
		for name, p := range s.Value.Properties {
			if !strings.HasSuffix(p.Value.Description, ".") {
				t.Errorf("%s.%s: the description is %q, no sentence", path, name, p.Value.Description)
			}
			walk(path+"."+name, p)
		}
		if s.Value.Items != nil && s.Value.Items.Ref == "" {
			walk(path+"[]", s.Value.Items)
		}
	}
	for name, s := range document.Components.Schemas {
		walk(name, s)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Summary == "" || len(operation.Tags) != 1 || document.Tags.Get(operation.Tags[0]) == nil {
				t.Errorf("%s %s has no summary, or is not under a tag that there is", method, path)
			}
			for _, p := range slices.Concat(item.Parameters, operation.Parameters) {
				if p.Value.Description == "" {
					t.Errorf("%s %s: %s is not described", method, path, p.Value.Name)
				}
			}
		}
	}
}
