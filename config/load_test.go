package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// write puts text into a file of its own and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustLoad(t *testing.T, s Source) *Config {
	t.Helper()
	c, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// faultText is what is wrong with a source, its file called FILE.
func faultText(t *testing.T, s Source) string {
	t.Helper()
	c, err := Load(s)
	if err == nil {
		return ""
	}
	var faults *Faults
	if c != nil || !errors.As(err, &faults) || len(faults.List) == 0 {
		t.Fatalf("Load = %v, %#v", c, err)
	}
	if s.File == "" {
		return err.Error()
	}
	return strings.ReplaceAll(err.Error(), s.File, "FILE")
}

func TestNothingGivenIsTheDefault(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Source{
		"nothing":           {},
		"empty file":        {File: write(t, "c.yaml", "")},
		"comments":          {File: write(t, "c.yaml", "# nothing\n---\n# yet\n")},
		"null":              {File: write(t, "c.yaml", "~")},
		"empty groups":      {File: write(t, "c.yaml", "http: {}\ncluster:\nlimiter: ~\npolicies:\n")},
		"empty policies":    {File: write(t, "c.yaml", "policies: []")},
		"empty variables":   {Env: []string{"MURMURATE_HTTP_LISTEN=", "MURMURATE_CLUSTER_SECRET_FILE=", "MURMURATE_X="}},
		"other variables":   {Env: []string{"PATH=/bin", "HTTP_LISTEN=x", "NO_EQUALS_SIGN", "murmurate_http_listen=x"}},
		"client variables":  {Env: []string{"MURMURATE_SERVER=http://10.0.0.1:7380", "MURMURATE_TOKEN_FILE=/run/token"}},
		"default spelt out": {Env: []string{"MURMURATE_LIMITER_MAX_KEYS=10M"}, Flags: map[string]any{"cluster.deadline": 50 * time.Millisecond}},
	} {
		if got := mustLoad(t, s); !reflect.DeepEqual(got, Default()) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestDefaultPolicyIsTheBuiltInOne(t *testing.T) {
	t.Parallel()
	got, err := Default().PolicySet()
	if err != nil {
		t.Fatal(err)
	}
	want, err := policy.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Policies(), want.Policies()) {
		t.Errorf("got %+v, want %+v", got.Policies(), want.Policies())
	}
}

func TestEverySetting(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, Source{File: "testdata/every.yaml"})
	burst, count, proCount, cost, anchor := int64(40), int64(3000), int64(5000), int64(2), int64(5)
	status := 403
	want := &Config{
		Node: Node{Name: "n1"},
		HTTP: HTTP{
			Listen:         ":8080",
			AdminListen:    "127.0.0.1:8081",
			Headers:        []string{"ietf", "x"},
			RetryAfter:     "date",
			TrustedProxies: []string{"10.0.0.0/8", "2001:db8::1"},
			ClientIPHeader: "forwarded",
			IPv4Prefix:     24,
			IPv6Prefix:     56,
			AuthTokens:     []string{"0123456789abcdef", "fedcba9876543210=="},
		},
		Cluster: Cluster{
			Gossip:      "10.0.0.1:7481",
			Peer:        "[2001:db8::1]:7482",
			Advertise:   "203.0.113.7",
			Join:        []string{"10.0.0.2:7481", "nodes.example:7381", "[::1]:7381"},
			Label:       "blue",
			Role:        "client",
			Secret:      "a secret of sixteen bytes or more",
			IdentityKey: "an identity key of its own",
			Insecure:    true,
			Deadline:    1500 * time.Millisecond,
			EvictAfter:  time.Hour,
		},
		Limiter: Limiter{MaxKeys: 2_000_000},
		Log:     Log{Level: "debug", Format: "json"},
		Policies: []Policy{
			{
				Name: "api",
				Match: policy.Match{
					Host: "*.example.com", Path: "/v1/{tenant}/**", Method: []string{"GET", "POST"},
					Header:    []policy.Field{{Name: "X-Beta", Value: "yes"}},
					Query:     []policy.Field{{Name: "q"}},
					Attribute: []policy.Field{{Name: "region", Value: "eu"}},
				},
				Key: []string{"header:X-Api-Key | ip", "path:tenant"},
				Limits: []policy.LimitSpec{
					{Name: "burst", Algorithm: "token_bucket", Rate: "20/s", Burst: &burst},
					{Name: "month", Algorithm: "fixed_window", Count: &count, Period: "month", Align: "calendar", Timezone: "Asia/Kolkata", Anchor: &anchor},
				},
				Tiers: Tiers{By: "header:X-Plan", Sets: []TierSet{
					{Name: "pro", Limits: []policy.LimitSpec{{Name: "burst", Algorithm: "token_bucket", Rate: "200/s"}}},
					{Name: "Pro", Limits: []policy.LimitSpec{{Name: "month", Algorithm: "fixed_window", Count: &proCount, Period: "month"}}},
				}},
				Overrides: []Override{
					{Key: "header:x-api-key=partner-1&path:tenant=acme", Unlimited: true},
					{KeyPrefix: "header:x-api-key=test-", Limits: []policy.LimitSpec{{Name: "burst", Algorithm: "token_bucket", Rate: "5/s"}}},
					{Key: "header:x-api-key=leaked-key&path:tenant=acme", Blocked: true},
				},
				Exempt: []policy.Exemption{
					{Match: policy.Match{Path: "/healthz"}},
					{CIDR: "10.0.0.0/8"},
					{Match: policy.Match{
						Host: "h", Path: "/static/**", Method: []string{"GET"},
						Header: []policy.Field{{Name: "A"}}, Query: []policy.Field{{Name: "b"}}, Attribute: []policy.Field{{Name: "c"}},
					}},
				},
				Cost:   Cost{Default: &cost, ByMethod: []policy.MethodCost{{Method: "POST", Cost: 5}}, Attr: "units"},
				Shadow: true, Cooldown: policy.Cooldown{For: 90 * time.Second, Extend: true}, OnUnreachable: "allow", DenyStatus: &status,
			},
			{Name: "API", Cost: Cost{Default: &cost}, Cooldown: policy.Cooldown{For: 5 * time.Minute}, Limits: []policy.LimitSpec{{Algorithm: "sliding_window", Rate: "5/s"}}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	set, err := got.PolicySet()
	if err != nil {
		t.Fatal(err)
	}
	api := set.Policies()[0]
	if api.Cost.Default != 2 || !api.Shadow || api.OnUnreachable != policy.Allow || api.Limits[1].Count != 3000 || api.Limits[1].Anchor != 5 ||
		api.Cost.ByMethod[0].Cost != 5 || api.Cost.Attr != "units" || api.DenyStatus != 403 || api.Cooldown.For != 90*time.Second || !api.Cooldown.Extend ||
		api.Tiers.By != "header:X-Plan" || api.Tiers.Sets[0].Limits[0].Count != 200 || api.Overrides[1].Limits[0].Count != 5 ||
		!api.Overrides[0].Unlimited || !api.Overrides[2].Blocked || api.Exempt[1].CIDR != "10.0.0.0/8" || api.Match.Host != "*.example.com" {
		t.Errorf("policy api is %+v", api)
	}
	if names := set.Names(); names[0] != "api" || names[1] != "API" {
		t.Errorf("names %q lost their case", names)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := write(t, "c.yaml", "log: {level: warn, format: json}\ncluster: {join: [10.0.0.1, 10.0.0.2], label: file}\n")
	for _, c := range []struct {
		name                 string
		source               Source
		level, format, label string
		join                 string
	}{
		{"defaults", Source{}, "info", "text", "murmurate", ""},
		{"file", Source{File: file}, "warn", "json", "file", "10.0.0.1:7381 10.0.0.2:7381"},
		{"environment", Source{File: file, Env: []string{"MURMURATE_LOG_LEVEL=error", "MURMURATE_CLUSTER_JOIN=n3:1, n4,"}},
			"error", "json", "file", "n3:1 n4:7381"},
		{"flags", Source{
			File:  file,
			Env:   []string{"MURMURATE_LOG_LEVEL=error", "MURMURATE_CLUSTER_LABEL=env", "MURMURATE_CLUSTER_JOIN=n3"},
			Flags: map[string]any{"log.level": "debug", "cluster.join": []string{"n5:7381", "n6:9"}},
		}, "debug", "json", "env", "n5:7381 n6:9"},
		{"an empty flag", Source{File: file, Flags: map[string]any{"cluster.join": []string{}}}, "warn", "json", "file", ""},
	} {
		got := mustLoad(t, c.source)
		if got.Log.Level != c.level || got.Log.Format != c.format || got.Cluster.Label != c.label || strings.Join(got.Cluster.Join, " ") != c.join {
			t.Errorf("%s: %+v, label %q, join %q", c.name, got.Log, got.Cluster.Label, got.Cluster.Join)
		}
	}
}

// A later layer's value also hides a faulty one below it, but not the fault.
func TestFaultsOfHiddenValuesAreReported(t *testing.T) {
	t.Parallel()
	got := faultText(t, Source{
		File:  write(t, "c.yaml", "cluster: {deadline: 50}\n"),
		Env:   []string{"MURMURATE_CLUSTER_DEADLINE=1s"},
		Flags: map[string]any{"cluster.deadline": "2s"},
	})
	if want := "FILE:1: cluster.deadline: needs a unit: write 50ms or 50s"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestLocalhostIsALiteral(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, Source{Flags: map[string]any{"cluster.gossip": "localhost:0", "cluster.peer": "localhost:0", "http.listen": "localhost:0"}})
	if got.Cluster.Gossip != "127.0.0.1:0" || got.Cluster.Peer != "127.0.0.1:0" || got.HTTP.Listen != "localhost:0" {
		t.Errorf("gossip %s, peer %s, http %s", got.Cluster.Gossip, got.Cluster.Peer, got.HTTP.Listen)
	}
}

func TestExampleEqualsTheDefaults(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, Source{File: "../config.example.yaml"})
	if len(got.Policies) < 2 {
		t.Errorf("only %d example policies", len(got.Policies))
	}
	if _, err := got.PolicySet(); err != nil {
		t.Error(err)
	}
	used := make(map[string]bool)
	for _, p := range got.Policies {
		for _, l := range p.Limits {
			used[l.Algorithm] = true
		}
	}
	if len(used) != len(limiter.Algorithms()) {
		t.Errorf("the example shows only %v", used)
	}
	if warnings := got.Warnings(); warnings != nil {
		t.Errorf("the example has warnings: %v", warnings)
	}
	shown := make(map[string]bool)
	markUsed(reflect.ValueOf(got.Policies), shown)
	for field, ok := range shown {
		if !ok {
			t.Errorf("the example shows no %s", field)
		}
	}
	got.Policies = Default().Policies
	if !reflect.DeepEqual(got, Default()) {
		t.Errorf("\n got %+v\nwant %+v", got, Default())
	}

	text, err := os.ReadFile("../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := readDocument("example", text).lines
	for _, s := range settings() {
		if lines[s.path] == 0 {
			t.Errorf("the example leaves out %s", s.path)
		}
	}
}

// markUsed notes of every field of the groups in v whether any of them sets it.
func markUsed(v reflect.Value, used map[string]bool) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			markUsed(v.Index(i), used)
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			name := v.Type().Name() + "." + field.Name
			used[name] = used[name] || !value.IsZero()
			markUsed(value, used)
		}
	default: // of a single value its field has been noted
	}
}

func TestPrintReadsBack(t *testing.T) {
	t.Parallel()
	secrets := []string{
		"MURMURATE_CLUSTER_SECRET=a secret of sixteen bytes or more",
		"MURMURATE_CLUSTER_IDENTITY_KEY=an identity key of its own",
		"MURMURATE_HTTP_AUTH_TOKENS=0123456789abcdef,fedcba9876543210==",
	}
	for _, c := range []struct {
		name string
		file string
		env  []string
	}{
		{"defaults", "", nil},
		{"example", "../config.example.yaml", nil},
		{"every setting", "testdata/every.yaml", secrets},
	} {
		want := mustLoad(t, Source{File: c.file})
		var printed bytes.Buffer
		if err := want.Print(&printed); err != nil {
			t.Fatal(err)
		}
		got := mustLoad(t, Source{File: write(t, "printed.yaml", printed.String()), Env: c.env})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v\nfrom %s", c.name, got, want, printed.String())
		}
	}
}

func TestPrintHidesEverySecret(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, Source{File: "testdata/every.yaml"})
	before := *c
	before.HTTP.AuthTokens = append([]string(nil), c.HTTP.AuthTokens...)
	var printed bytes.Buffer
	if err := c.Print(&printed); err != nil {
		t.Fatal(err)
	}
	secrets := 0
	for _, s := range settings() {
		if !s.secret {
			continue
		}
		secrets++
		value := reflect.ValueOf(c).Elem().FieldByIndex(s.index)
		values, ok := value.Interface().([]string)
		if !ok {
			values = []string{value.String()}
		}
		for _, secret := range values {
			if secret == "" || strings.Contains(printed.String(), secret) {
				t.Errorf("%s: %q is empty, or shown in\n%s", s.path, secret, printed.String())
			}
		}
	}
	if secrets != 3 {
		t.Errorf("%d settings are secret", secrets)
	}
	if !reflect.DeepEqual(*c, before) {
		t.Error("Print changed the configuration")
	}
	shown := faultText(t, Source{File: write(t, "c.yaml", "cluster:\n  secret: (hidden)\n")})
	if want := "FILE:2: cluster.secret: (hidden) is what a printed configuration shows instead of a secret: put the secret here"; shown != want {
		t.Errorf("got %s\nwant %s", shown, want)
	}
}

func TestPolicySetOfAnInvalidConfig(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Policies = []Policy{{Name: "a"}}
	set, err := c.PolicySet()
	if set != nil || err == nil || err.Error() != "policies[0].limits: a policy needs at least one limit" {
		t.Errorf("PolicySet = %v, %v", set, err)
	}
}

// Two loads share nothing.
func TestLoadsShareNothing(t *testing.T) {
	t.Parallel()
	a, b := mustLoad(t, Source{}), mustLoad(t, Source{})
	a.HTTP.Headers[0] = "changed"
	a.Policies[0].Name = "changed"
	if !reflect.DeepEqual(b, Default()) {
		t.Errorf("a change of one Config changed another: %+v", b)
	}
}
