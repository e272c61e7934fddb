package scenario_test

import (
	"os"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/testcluster/scenario"
)

func TestParseNamesTheLineAndWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"nodes 3\n\nadvnace 5s", `x.txt:3: unknown command "advnace": did you mean "advance"?`},
		{"frobnicate", `one of advance, await,`},
		{"advance", `how long is missing (usage: advance DURATION)`},
		{"advance 5", `how long must be a duration such as 5s or 200ms, got "5"`},
		{"take k tmies=4", `unknown option tmies=: did you mean times=?`},
		{"take k paralle times=2", `unknown word paralle: did you mean parallel?`},
		{"take k cost=1 cost=2", `option cost is given twice`},
		{"take k cost=", `"cost=": an option is NAME=VALUE without spaces`},
		{"take k times=0", `times must be a number of at least 1, got "0"`},
		{"take k -> remaining=", `"remaining=" must be a word, NAME=VALUE`},
		{`take k -> error="open`, `a text in double quotes does not end`},
		{"cut 1-2", `what to cut must be 1|2,3 (both ways) or 1>2`},
		{"kill node-one", `"node-one" is no node: write 2 for n2`},
		{"loss 0.1", `must be 0% to 100%, got "0.1"`},
		{"load k rate=10 for=1s", `rate must be checks per second such as 100/s, got "10"`},
		{"policy api token_buckt 1/s", `(did you mean "token_bucket"?)`},
		{"policy api token_bucket 1/m", `write min or month`},
		{"policy api token_bucket 1/s on_unreachable=fail", `on_unreachable must be local, allow or deny, got "fail"`},
		{"policy api token_bucket 1/s cooldown=5", `cooldown must be a duration such as 5s or 200ms, got "5"`},
		{"policy api token_bucket 1/s cooldown=9000h", `cooldown.for: must be 0s, which is none, to 8784h0m0s`},
		{"start n4 role=server", `role must be owner or client, got "server"`},
		{"await rain", `cannot wait for "rain": agree, owner or load`},
		{"key k", `owner is missing`},
		{"nodes 3\npolicy api token_bucket 1/s", `x.txt:2: must come before the first node starts`},
		{"heal -> healed", `heal says nothing that could be expected`},
		{"-> allowed", `an expectation needs a command before the arrow`},
		{"advance 1\nadvance 2", "x.txt:2:"},
	} {
		_, err := scenario.Parse("x.txt", c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestParseKeepsTheText(t *testing.T) {
	t.Parallel()
	text := "# a comment\n\nnodes 3   # three\n  take k   ->  allowed remaining<=5 # why\nbatch k keys=1 -> error=\"a # b\"\n"
	s, err := scenario.Parse("x.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	if s.String() != text {
		t.Errorf("got\n%swant\n%s", s, text)
	}
}

func TestRandomScenariosParse(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for seed := range uint64(300) {
		text := scenario.Random(seed)
		if _, err := scenario.Parse("random", text); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if text != scenario.Random(seed) {
			t.Fatalf("seed %d: another scenario the second time", seed)
		}
		for line := range strings.Lines(text) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			seen[name] = true
		}
	}
	for _, name := range []string{"cut", "heal", "pause", "resume", "kill", "restart", "start", "stop", "delay", "loss", "duplicate", "slow", "reset", "take"} {
		if !seen[name] {
			t.Errorf("no scenario has the command %s", name)
		}
	}
}

func TestDocExplainsEveryCommand(t *testing.T) {
	t.Parallel()
	_, err := scenario.Parse("x.txt", "unheard-of")
	_, names, _ := strings.Cut(err.Error(), "one of ")
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(names, ", ") {
		if !strings.Contains(string(doc), "//\t"+name+" ") && !strings.Contains(string(doc), ", "+name+" ") {
			t.Errorf("doc.go does not explain the command %s", name)
		}
	}
}
