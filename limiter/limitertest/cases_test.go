package limitertest_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/limiter/limitertest"
)

func TestRecordedCases(t *testing.T) {
	t.Parallel()
	in, err := os.Open("../testdata/algorithms.json")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	file, err := limitertest.ReadCases(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 174 {
		t.Errorf("%d cases", len(file.Cases))
	}
	for i := range file.Cases {
		c := &file.Cases[i]
		wrong, err := c.Run(file.Tolerance)
		if err != nil || len(wrong) > 0 {
			t.Errorf("%s: %v, wrong: %v", c.Name, err, wrong)
		}
		checkOracle(t, c, file.Tolerance)
	}
}

// checkOracle holds the oracle to the same answers.
func checkOracle(t *testing.T, c *limitertest.Case, tolerance time.Duration) {
	t.Helper()
	oracle := limitertest.NewOracle()
	results := make([]limiter.Result, 1)
	for i, s := range c.Steps {
		oracle.Do(limiter.At(s.At), &limiter.Call{Charges: []limiter.Charge{{Limit: &c.Limit, Cost: s.Cost}}}, results)
		r := results[0]
		near := func(got, want time.Duration) bool {
			return got == want || want >= 0 && (got-want).Abs() <= tolerance
		}
		if r.Allowed != s.Allowed || r.Remaining != s.Remaining || !near(r.RetryAfter, s.RetryAfter) ||
			!near(r.ResetAfter, s.ResetAfter) || !near(r.Delay, s.Delay) {
			t.Errorf("%s, step %d: the oracle says %+v, the file %+v", c.Name, i, r, s)
		}
	}
}

const oneStep = `{"at_ns":0,"cost":1,"allowed":true,"remaining":4,"retry_after_ns":0,"reset_after_ns":200000000}`

func caseFile(algorithm, limit, steps string) string {
	return `{"tolerance_ns":1000,"cases":[{"name":"n","why":"w","algorithm":"` + algorithm + `","limit":` + limit + `,"steps":[` + steps + `]}]}`
}

func TestUnreadableCases(t *testing.T) {
	t.Parallel()
	const limit = `{"count":5,"period_ns":1000000000}`
	tests := []struct{ json, message string }{
		{caseFile("token_bucket", limit, oneStep), ""},
		{caseFile("token_buckt", limit, oneStep), `cases[0] "n": algorithm: "token_buckt" is unknown`},
		{caseFile("concurrency", limit, oneStep), `cases[0] "n": algorithm: a case is of takes`},
		{caseFile("token_bucket", `{"count":5}`, oneStep), "limit.period_ns is missing"},
		{caseFile("token_bucket", `{"period_ns":5}`, oneStep), "limit.count is missing"},
		{caseFile("token_bucket", `{"count":-5,"period_ns":1000000000}`, oneStep), "limit.count: must be"},
		{caseFile("token_bucket", `{"count":5,"period_ns":1000000000,"burst":0}`, oneStep), "limit.burst"},
		{caseFile("token_bucket", `{"count":5,"period_ns":1000000000,"brust":1}`, oneStep), `unknown field "brust"`},
		{caseFile("token_bucket", limit, ``), "steps: there is none"},
		{caseFile("token_bucket", limit, `{"at_ns":0,"cost":1}`), "steps[0].allowed is missing"},
		{caseFile("token_bucket", limit, strings.Replace(oneStep, `"cost":1`, `"cost":1.5`, 1)), "line 1"},
		{caseFile("token_bucket", limit, oneStep) + "{}", "nothing after"},
		{`{"tolerance_ns":1,"cases":[]}`, "cases: there is none"},
		{`{"cases":[]}`, "tolerance_ns is missing"},
		{``, "EOF"},
	}
	for _, test := range tests {
		_, err := limitertest.ReadCases(strings.NewReader(test.json))
		switch {
		case test.message == "" && err != nil:
			t.Errorf("%s: %v", test.json, err)
		case test.message != "" && (err == nil || !strings.Contains(err.Error(), test.message)):
			t.Errorf("%s: got %v, want %q", test.json, err, test.message)
		}
	}
}

// Each field that a step can get wrong is found.
func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	limit := limiter.Limit{Name: "l", Algorithm: limiter.LeakyBucket, Count: 5, Period: time.Second, Burst: 4}
	right := limitertest.Step{
		Cost: 2, Allowed: true, Remaining: 3, ResetAfter: 400 * time.Millisecond,
		Delay: 200 * time.Millisecond, HasDelay: true,
	}
	tests := []struct {
		want  string // "": right
		plant func(*limitertest.Step)
	}{
		{"", func(*limitertest.Step) {}},
		{"", func(s *limitertest.Step) { s.ResetAfter += 1000 }},
		{"", func(s *limitertest.Step) { s.HasDelay, s.Delay = false, 7 }},
		{"reset_after_ns: got 400000000, want 400001001", func(s *limitertest.Step) { s.ResetAfter += 1001 }},
		{"allowed: got true, want false", func(s *limitertest.Step) { s.Allowed = false }},
		{"remaining: got 3, want 4", func(s *limitertest.Step) { s.Remaining++ }},
		{"retry_after_ns: got 0, want -1", func(s *limitertest.Step) { s.RetryAfter = limiter.Never }},
		{"delay_ns: got 200000000, want 0", func(s *limitertest.Step) { s.Delay = 0 }},
	}
	for _, test := range tests {
		step := right
		test.plant(&step)
		c := limitertest.Case{Limit: limit, Steps: []limitertest.Step{step}}
		wrong, err := c.Run(1000)
		switch {
		case err != nil:
			t.Error(err)
		case test.want == "" && len(wrong) > 0, test.want != "" && (len(wrong) != 1 || wrong[0].Detail != test.want):
			t.Errorf("got %v, want %q", wrong, test.want)
		}
	}
	c := limitertest.Case{Limit: limit, Steps: []limitertest.Step{{Cost: -1}}}
	if _, err := c.Run(0); err == nil {
		t.Error("a negative cost was answered")
	}
}
