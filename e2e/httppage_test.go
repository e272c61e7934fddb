package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write into the page on HTTP what its examples answer now")

var (
	pageConfig = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")
	pageCalls  = regexp.MustCompile("(?m)^curl ")
	pageToken  = regexp.MustCompile(`"(lease|receipt)":"([^"]*)"`)
	// pageExample is a call and what it answers.
	pageExample = regexp.MustCompile("(?ms)(^```sh\n(curl [^\n]*)\n```\n\n```(?:http|json)\n)(.*?)(^```$)")
)

// The calls that the page on HTTP shows, run in order by curl against a node
// with the page's configuration, answer what the page says.
func TestHTTPPage(t *testing.T) {
	t.Parallel()
	const file = "../docs/http.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	curl := find(t, "curl")
	settings := pageConfig.FindSubmatch(page)
	if settings == nil {
		t.Fatal("the page has no configuration")
	}
	config := filepath.Join(t.TempDir(), "api.yaml")
	if err := os.WriteFile(config, settings[1], 0o600); err != nil {
		t.Fatal(err)
	}
	n := start(t, setup{name: "n1", args: []string{"--config", config}})
	n.await(n.ready, "become ready")
	if examples, calls := len(pageExample.FindAll(page, -1)), len(pageCalls.FindAll(page, -1)); examples != calls || examples < 10 {
		t.Fatalf("%d calls on the page, %d with an answer", calls, examples)
	}
	last := make(map[string]string) // tokens that were given
	shown := pageExample.ReplaceAllFunc(page, func(block []byte) []byte {
		parts := pageExample.FindSubmatch(block)
		command := strings.NewReplacer("localhost:7380", n.http, "LEASE", last["lease"], "RECEIPT", last["receipt"]).Replace(string(parts[2]))
		command = curl + " -sS" + strings.TrimPrefix(command, "curl")
		answer, err := exec.Command("sh", "-c", command).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", parts[2], err, answer)
		}
		answer = append(bytes.TrimSpace(bytes.ReplaceAll(answer, []byte("\r"), nil)), '\n')
		for _, given := range pageToken.FindAllSubmatch(answer, -1) {
			last[string(given[1])] = string(given[2])
		}
		got, want := settled(string(answer)), settled(string(parts[3]))
		if got == want {
			return block
		}
		if !*update {
			t.Errorf("%s\n answers %s\n the page says %s", parts[2], got, want)
		}
		return bytes.Join([][]byte{parts[1], answer, parts[4]}, nil)
	})
	if *update {
		if err := os.WriteFile(file, shown, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// volatile are the parts of an answer that differ each time: times that are
// neither 0 nor -1, and what tells nodes and builds apart.
var volatile = []struct {
	part *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`"([a-z_]+_ms)":[1-9][0-9]*`), `"$1":N`},
	{regexp.MustCompile(`;t=[1-9][0-9]*`), `;t=N`},
	{regexp.MustCompile(`(?m)^(Date|Content-Length|Ratelimit-Reset|Retry-After): .*`), `$1: N`},
	{regexp.MustCompile(`try again in [0-9]+ s`), `try again in N s`},
	{regexp.MustCompile(`"(digest|version|address)":"[^"]*"`), `"$1":"N"`},
	{pageToken, `"$1":"T"`},
	{regexp.MustCompile(`fp:[0-9a-f]{32}`), `fp:N`},
	{regexp.MustCompile(`"keys":[0-9]+`), `"keys":N`}, // counters are swept at times
}

// settled is an answer without what is volatile, and without the white space
// that the page has in JSON to be read.
func settled(answer string) string {
	head, body, found := strings.Cut(answer, "\n\n")
	if !found {
		head, body = "", answer
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(body)) == nil {
		body = compact.String()
	}
	answer = head + "\n\n" + body
	for _, v := range volatile {
		answer = v.part.ReplaceAllString(answer, v.by)
	}
	return strings.TrimSpace(answer)
}
