package config

import (
	"strings"
	"testing"
)

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, Source{
		File: write(t, "c.yaml", "cluster: {secret: a secret from the configuration}"),
		Env: []string{
			"MURMURATE_CLUSTER_SECRET_FILE=" + write(t, "secret", "  a secret from a file\n"),
			"MURMURATE_CLUSTER_IDENTITY_KEY_FILE=" + write(t, "key", "an identity key\nof two lines\n"),
			"MURMURATE_HTTP_AUTH_TOKENS_FILE=" + write(t, "tokens", "the-first-of-the-tokens\n\nthe-second-of-the-tokens\n"),
		},
	})
	if got.Cluster.Secret != "a secret from a file" || got.Cluster.IdentityKey != "an identity key\nof two lines" {
		t.Errorf("secret %q, identity key %q", got.Cluster.Secret, got.Cluster.IdentityKey)
	}
	if tokens := strings.Join(got.HTTP.AuthTokens, " "); tokens != "the-first-of-the-tokens the-second-of-the-tokens" {
		t.Errorf("tokens %q", tokens)
	}
}

func TestClientsFromTheEnvironment(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, Source{Env: []string{
		"MURMURATE_HTTP_TRUSTED_PROXIES=10.0.0.0/8, ::1", "MURMURATE_HTTP_CLIENT_IP_HEADER=forwarded",
		"MURMURATE_HTTP_IPV4_PREFIX=24", "MURMURATE_HTTP_IPV6_PREFIX=48",
	}}).HTTP
	if strings.Join(got.TrustedProxies, " ") != "10.0.0.0/8 ::1" || got.ClientIPHeader != "forwarded" || got.IPv4Prefix != 24 || got.IPv6Prefix != 48 {
		t.Errorf("got %+v", got)
	}
}

func TestBadEnvironment(t *testing.T) {
	t.Parallel()
	empty, short, good := write(t, "empty", "\n"), write(t, "short", "abc"), write(t, "good", "a secret of a good length")
	for _, c := range []struct {
		name string
		env  []string
		want []string
	}{
		{"misspelt", []string{"MURMURATE_HTTP_LISTN=:80"},
			[]string{`MURMURATE_HTTP_LISTN: is not a setting (did you mean "MURMURATE_HTTP_LISTEN"?)`}},
		{"misspelt file", []string{"MURMURATE_CLUSTER_SECRET_FIEL=/x"},
			[]string{`MURMURATE_CLUSTER_SECRET_FIEL: is not a setting (did you mean "MURMURATE_CLUSTER_SECRET_FILE"?)`}},
		{"unlike any", []string{"MURMURATE_DATA_DIR=/var", "MURMURATE_POLICIES=x"},
			[]string{"MURMURATE_DATA_DIR: is not a setting", "MURMURATE_POLICIES: is not a setting"}},
		{"file of what is no secret", []string{"MURMURATE_HTTP_LISTEN_FILE=/x"}, []string{"MURMURATE_HTTP_LISTEN_FILE: is not a setting (did you mean \"MURMURATE_HTTP_LISTEN\"?)"}},
		{"types", []string{"MURMURATE_LIMITER_MAX_KEYS=1.5", "MURMURATE_CLUSTER_INSECURE=1", "MURMURATE_CLUSTER_DEADLINE=50"}, []string{
			"MURMURATE_CLUSTER_DEADLINE: cluster.deadline: needs a unit: write 50ms or 50s",
			`MURMURATE_CLUSTER_INSECURE: cluster.insecure: must be true or false, got "1"`,
			`MURMURATE_LIMITER_MAX_KEYS: limiter.max_keys: must be a whole number such as 250, 10k, 5M or 1G, got "1.5"`}},
		{"values", []string{"MURMURATE_LOG_LEVEL=loud", "MURMURATE_CLUSTER_JOIN=n1,n2:x", "MURMURATE_CLUSTER_SECRET=abc"}, []string{
			`MURMURATE_CLUSTER_JOIN: cluster.join[1]: must be HOST:PORT such as 10.0.0.1:7381, with the gossip port of another node, got "n2:x"`,
			"MURMURATE_CLUSTER_SECRET: cluster.secret: must have at least 16 bytes, got 3; make one with: openssl rand -base64 32",
			`MURMURATE_LOG_LEVEL: log.level: must be debug, info, warn or error, got "loud"`}},
		{"secret twice", []string{"MURMURATE_CLUSTER_SECRET=a secret of a good length", "MURMURATE_CLUSTER_SECRET_FILE=" + good}, []string{
			"MURMURATE_CLUSTER_SECRET_FILE: cluster.secret: is given by MURMURATE_CLUSTER_SECRET too: keep one of the two"}},
		{"empty file", []string{"MURMURATE_CLUSTER_SECRET_FILE=" + empty}, []string{
			"MURMURATE_CLUSTER_SECRET_FILE: cluster.secret: the file " + empty + " is empty"}},
		{"short secret in a file", []string{"MURMURATE_CLUSTER_SECRET_FILE=" + short}, []string{
			"MURMURATE_CLUSTER_SECRET_FILE: cluster.secret: must have at least 16 bytes, got 3; make one with: openssl rand -base64 32"}},
		{"no file, and no fault for the lack of a secret", []string{"MURMURATE_CLUSTER_SECRET_FILE=/no/such/file", "MURMURATE_CLUSTER_GOSSIP=10.0.0.1:7381"}, []string{
			"MURMURATE_CLUSTER_SECRET_FILE: cluster.secret: the file /no/such/file cannot be read: no such file or directory"}},
	} {
		if got, want := faultText(t, Source{Env: c.env}), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

func TestBadFlags(t *testing.T) {
	t.Parallel()
	got := faultText(t, Source{
		File: write(t, "c.yaml", "# nothing\nhttp:\n  listn: x\n"),
		Env:  []string{"MURMURATE_LOG_LEVEL=loud"},
		Flags: map[string]any{
			"http.listen":      "nowhere",
			"cluster.gossip":   "10.0.0.1:7381",
			"limiter.max_keys": 0,
			"no.such":          1,
		},
	})
	want := strings.Join([]string{
		`FILE:3: http.listn: unknown setting (did you mean "listen"?)`,
		"--gossip: cluster.gossip: 10.0.0.1:7381 is not on loopback, and anybody who reaches it could join: set cluster.secret, the same on every node " +
			"(make one with: openssl rand -base64 32), or cluster.insecure: true where everybody on the network is trusted",
		`--http: http.listen: must be HOST:PORT such as 127.0.0.1:7380 or [::1]:7380, got "nowhere"`,
		`MURMURATE_LOG_LEVEL: log.level: must be debug, info, warn or error, got "loud"`,
		"flag limiter.max_keys: limiter.max_keys: must be 1 to 1000000000",
		"flag no.such: no.such: unknown setting",
	}, "\n")
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Of two addresses that clash the one is blamed that was set last.
func TestClashesOfLayers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		env        []string
		flags      map[string]any
		want       string
	}{
		{"a flag and a default", "", nil, map[string]any{"http.listen": "127.0.0.1:7382"},
			"--http: http.listen: 127.0.0.1:7382 is taken by cluster.peer (127.0.0.1:7382): choose another port"},
		{"a variable and the file", "cluster: {peer: '127.0.0.1:99'}", []string{"MURMURATE_HTTP_LISTEN=127.0.0.1:99"}, nil,
			"MURMURATE_HTTP_LISTEN: http.listen: 127.0.0.1:99 is taken by cluster.peer (127.0.0.1:99): choose another port"},
		{"a flag and a variable", "", []string{"MURMURATE_CLUSTER_PEER=127.0.0.1:99"}, map[string]any{"cluster.gossip": "127.0.0.1:99"},
			"--gossip: cluster.gossip: 127.0.0.1:99 is taken by cluster.peer (127.0.0.1:99): choose another port"},
		{"the file, hidden", "http: {listen: '127.0.0.1:7381'}", nil, map[string]any{"http.listen": "127.0.0.1:99"}, ""},
	} {
		if got := faultText(t, Source{File: write(t, "c.yaml", c.file), Env: c.env, Flags: c.flags}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A fault in the file says nothing of a value that a variable sets instead.
func TestVariablesAreJudgedBesideFaultsOfTheFile(t *testing.T) {
	t.Parallel()
	got := faultText(t, Source{
		File: write(t, "c.yaml", "clustr: {role: owner}\nhttp: {headers: [ietf, [legacy]]}\n"),
		Env:  []string{"MURMURATE_CLUSTER_ROLE=ownr", "MURMURATE_HTTP_HEADERS=ietf,legcy"},
	})
	want := strings.Join([]string{
		`FILE:1: clustr: unknown setting (did you mean "cluster"?)`,
		"FILE:2: http.headers[1]: must be one value, got a list",
		`MURMURATE_CLUSTER_ROLE: cluster.role: must be owner or client, got "ownr" (did you mean "owner"?)`,
		`MURMURATE_HTTP_HEADERS: http.headers[1]: must be ietf, legacy, x, ietf12 or none, got "legcy" (did you mean "legacy"?)`,
	}, "\n")
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// What Kubernetes adds for Services named murmurate and murmurate-peer.
func TestKubernetesVariablesAreNoFault(t *testing.T) {
	t.Parallel()
	mustLoad(t, Source{Env: []string{
		"MURMURATE_SERVICE_HOST=10.96.0.7",
		"MURMURATE_SERVICE_PORT=7380",
		"MURMURATE_SERVICE_PORT_HTTP=7380",
		"MURMURATE_PORT=tcp://10.96.0.7:7380",
		"MURMURATE_PORT_7380_TCP=tcp://10.96.0.7:7380",
		"MURMURATE_PORT_7380_TCP_PROTO=tcp",
		"MURMURATE_PORT_7380_TCP_PORT=7380",
		"MURMURATE_PORT_7380_TCP_ADDR=10.96.0.7",
		"MURMURATE_PEER_SERVICE_HOST=10.96.0.8",
		"MURMURATE_PEER_PORT=udp://10.96.0.8:7381",
	}})
	got := faultText(t, Source{Env: []string{"MURMURATE_HTTP_PORT=7380"}})
	if want := "MURMURATE_HTTP_PORT: is not a setting"; got != want {
		t.Errorf("a port that looks like a setting: got %q, want %q", got, want)
	}
}

func TestVariablesAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	add := func(name, path string) {
		if other, taken := seen[name]; taken {
			t.Errorf("%s stands for %s and for %s", name, other, path)
		}
		if fromKubernetes(name, "tcp://10.0.0.1:80") {
			t.Errorf("%s, for %s, looks like a variable of Kubernetes", name, path)
		}
		seen[name] = path
	}
	for _, name := range clientVariables {
		add(name, "a client")
	}
	for _, s := range settings() {
		add(s.variable(), s.path)
		if s.secret {
			add(s.variable()+"_FILE", s.path)
		}
	}
	if seen["MURMURATE_HTTP_TLS_CLIENT_CA"] != "http.tls.client_ca" {
		t.Errorf("variables are %v", seen)
	}
}

func TestFlagNamesAreSettings(t *testing.T) {
	t.Parallel()
	paths := map[string]bool{}
	for _, s := range settings() {
		paths[s.path] = true
	}
	for path, flag := range flagNames {
		if !paths[path] {
			t.Errorf("%s stands for %s, which is no setting", flag, path)
		}
	}
}
