package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOverrideCommandsAsk(t *testing.T) {
	t.Parallel()
	const (
		fp  = "fp:0123456789abcdef0123456789abcdef"
		set = `{"policy":"api","fingerprint":"` + fp + `","limits":[{"name":"minute","algorithm":"sliding_window","count":600,"period":"1m"},{"count":9,"period":"1s","algorithm":"token_bucket","burst":20}],"unlimited":false,"blocked":false,"in_force":true,"expires_in_ms":86399999,"set_on":"n1"}`
		one = `{"policy":"api","fingerprint":"` + fp + `","unlimited":false,"blocked":true,"in_force":false,"set_on":"n2"}`
	)
	for _, c := range []struct {
		command string
		asked   string // method, path and body
		answer  string
		want    string // a line that is printed
	}{
		{"set a/b --policy api --limit minute=600/min --expires 24h",
			`PUT /v1/overrides/api/a%2Fb {"limits":[{"name":"minute","rate":"600/min"}],"expires_in":"24h"}`, set,
			"set: minute=600/1m,algorithm=sliding_window 9/1s,burst=20,algorithm=token_bucket for " + fp + " (policy api, expires in 24h0m0s)"},
		{"set k --policy api --limit 5k/day,burst=2k,algorithm=leaky_bucket --limit b=1/s,align=first,timezone=Europe/Berlin,anchor=3",
			`PUT /v1/overrides/api/k {"limits":[{"algorithm":"leaky_bucket","rate":"5k/day","burst":2000},{"name":"b","rate":"1/s","align":"first","timezone":"Europe/Berlin","anchor":3}]}`, set, "set: "},
		{"set " + fp + " --policy api --blocked", `PUT /v1/overrides/api/` + fp + ` {"blocked":true}`, one,
			"set: blocked for " + fp + " (policy api, expires never)"},
		{"set k --policy api --unlimited", `PUT /v1/overrides/api/k {"unlimited":true}`, one, "set: "},
		{"set k --policy api --blocked -o json", `PUT /v1/overrides/api/k {"blocked":true}`, one, one},
		{"rm .. --policy api", `DELETE /v1/overrides/api/%2E%2E `, one, "removed: blocked for " + fp + " (policy api, expires never)"},
		{"list", `GET /v1/overrides `, `{"overrides":[` + set + `,` + one + `]}`, "api " + fp + " blocked no never"},
		{"list", `GET /v1/overrides `, `{"overrides":[` + set + `]}`, "POLICY  KEY                                  OVERRIDE"},
		{"list --policy a&b", `GET /v1/overrides?policy=a%26b `, `{"overrides":[]}`, "no overrides"},
		{"list -o json", `GET /v1/overrides `, `{"overrides":[],"more":1}`, `{"overrides":[],"more":1}`},
	} {
		var asked string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = r.Method + " " + r.URL.RequestURI() + " " + strings.TrimSpace(string(body))
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, c.answer)
		}))
		code, stdout, stderr := invoke(t, []string{"MURMURATE_SERVER=" + server.URL}, append([]string{"override"}, strings.Fields(c.command)...)...)
		server.Close()
		printed := false
		for line := range strings.Lines(stdout) {
			printed = printed || squeezed(line) == squeezed(c.want) || strings.HasPrefix(squeezed(line), squeezed(c.want)+" ")
		}
		if code != exitOK || asked != c.asked || !printed {
			t.Errorf("%s: exit code %d\nasked %s\nwant  %s\nprinted %s%s\nwant %s", c.command, code, asked, c.asked, stdout, stderr, c.want)
		}
	}
}

// squeezed is a line of a table whatever the widths of its columns.
func squeezed(line string) string { return strings.Join(strings.Fields(line), " ") }

func TestOverrideCommandsRefuse(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("there is no token")
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{}`)
	}))
	defer server.Close()
	for command, want := range map[string]struct {
		code int
		text string
	}{
		"set":                                    {exitUsage, "KEY is missing"},
		"set k":                                  {exitUsage, "--policy NAME is needed"},
		"rm k":                                   {exitUsage, "--policy NAME is needed"},
		"set k --policy p":                       {exitUsage, "give one of --limit, --unlimited and --blocked"},
		"set k --policy p --blocked --unlimited": {exitUsage, "give one of"},
		"set k --policy p --blocked --limit 1/s": {exitUsage, "give one of"},
		"set k --policy p --blocked --expires 24":          {exitUsage, "--expires needs a unit"},
		"set fp:zz --policy p --blocked":                   {exitUsage, "KEY begins like a fingerprint"},
		"rm fp:zz --policy p":                              {exitUsage, "KEY begins like a fingerprint"},
		"set k --policy p --limit 5":                       {exitUsage, "--limit 5: the rate must be COUNT/PERIOD"},
		"set k --policy p --limit a=5/m":                   {exitUsage, "could be a minute or a month"},
		"set k --policy p --limit 1=5/s":                   {exitUsage, "the name must be a letter"},
		"set k --policy p --limit =5/s":                    {exitUsage, "the name must be a letter"},
		"set k --policy p --limit a=5/s,brust=3":           {exitUsage, `there is no "brust"; did you mean "burst"?`},
		"set k --policy p --limit a=5/s,b=5/min":           {exitUsage, "a --limit of its own"},
		"set k --policy p --limit a=5/s,burst":             {exitUsage, "burst needs a value"},
		"set k --policy p --limit a=5/s,burst=x":           {exitUsage, "burst must be"},
		"set k --policy p --limit a=5/s,algorithm=":        {exitUsage, "algorithm needs a value"},
		"set k --policy p --blocked --token-file /nowhere": {exitError, "token file"},
		"set k --policy p --blocked":                       {exitError, "not an override"},
		"rm k --policy p":                                  {exitError, "not an override"},
		"list":                                             {exitError, "not a list of overrides"},
		"list k":                                           {exitUsage, `unexpected argument "k"`},
		"lsit":                                             {exitUsage, "did you mean set or list?"},
		"list --server http://127.0.0.1:1":                 {exitUnreachable, "no answer"},
	} {
		code, _, stderr := invoke(t, []string{"MURMURATE_SERVER=" + server.URL}, append([]string{"override"}, strings.Fields(command)...)...)
		if code != want.code || !strings.Contains(stderr, want.text) {
			t.Errorf("%s: exit code %d, want %d with %q in %q", command, code, want.code, want.text, stderr)
		}
	}
}

// What a node shows can be given to it again.
func TestLimitsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"600/1m", "minute=600/1m", "b=20/s,burst=40,algorithm=token_bucket",
		"day=1000000/day,algorithm=fixed_window,align=calendar,timezone=America/Sao_Paulo,anchor=5",
	} {
		spec, err := parseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := formatLimit(&spec); got != text {
			t.Errorf("%s is written as %s", text, got)
		}
	}
}
