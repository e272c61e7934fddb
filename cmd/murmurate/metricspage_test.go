package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/murmurate/murmurate/cluster"
	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/observe"
)

var (
	// pageMetric is the row of a metric: its name, type and labels.
	pageMetric = regexp.MustCompile("(?m)^\\| `(murmurate_[a-z_]+)` \\| ([a-z]+) \\|([^|]*)\\|")
	// scrapedType and scrapedSample are lines of a scrape.
	scrapedType   = regexp.MustCompile(`(?m)^# TYPE (murmurate_[a-z_]+) ([a-z]+)$`)
	scrapedSample = regexp.MustCompile(`(?m)^(murmurate_[a-z_]+)(?:\{(.*)\})? `)
	labelName     = regexp.MustCompile(`([a-z_]+)="`)
)

// metricForm is the type and the sorted labels of a metric.
type metricForm struct{ kind, labels string }

// scraped are the metrics of a node of which every one has something to tell.
func scraped(t *testing.T) map[string]metricForm {
	t.Helper()
	d := startTestDaemon(t, `  retry_after: seconds
policies:
  - name: p
    key: [global]
    limits: [{name: a, algorithm: sliding_log, rate: 1/h}, {name: b, algorithm: quota, rate: 100/month}]
    durable: false
    tiers: {by: attr:plan, sets: [{name: pro, limits: [{name: a, algorithm: sliding_log, rate: 2/h}]}]}
`)
	client := newTestClient(t, nil)
	send := func(method, path, body string) string {
		request, err := http.NewRequestWithContext(t.Context(), method, d.url()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for range 2 { // the second is denied
		send(http.MethodPost, "/v1/check", `{"attributes":{"plan":"gold"}}`)
	}
	text := send(http.MethodGet, "/metrics", "")
	metrics := make(map[string]metricForm)
	for _, m := range scrapedType.FindAllStringSubmatch(text, -1) {
		metrics[m[1]] = metricForm{kind: m[2]}
	}
	for _, m := range scrapedSample.FindAllStringSubmatch(text, -1) {
		metrics[m[1]] = metricForm{metrics[m[1]].kind, labelNames(labelName, m[2])}
	}
	return metrics
}

// labelNames are those that name finds in text, in order.
func labelNames(name *regexp.Regexp, text string) string {
	var names []string
	for _, m := range name.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// The page on metrics lists what a scrape shows, no more and no less, and the
// values of the labels that have few.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	page, quoted := string(content), regexp.MustCompile("`([a-z_]+)`")
	told := make(map[string]metricForm)
	for _, m := range pageMetric.FindAllStringSubmatch(page, -1) {
		told[m[1]] = metricForm{m[2], labelNames(quoted, m[3])}
	}
	shown := scraped(t)
	for name, form := range shown {
		if told[name] != form {
			t.Errorf("docs/metrics.md says %+v of %s, a scrape %+v", told[name], name, form)
		}
	}
	for name := range told {
		if _, ok := shown[name]; !ok {
			t.Errorf("docs/metrics.md lists %s, which no scrape shows", name)
		}
	}
	values := []string{
		observe.ResultAllowed, observe.ResultDenied, observe.ResultShadowDenied, observe.ResultError,
		observe.ResultSettled, observe.ResultRefused, observe.ResultFailed, observe.InlinePolicy, observe.UnknownPolicy,
	}
	for _, s := range limiter.Sources() {
		values = append(values, s.String())
	}
	for _, s := range cluster.States() {
		values = append(values, s.String())
	}
	for _, value := range append(values, forwards()...) {
		if !strings.Contains(page, "`"+value+"`") {
			t.Errorf("docs/metrics.md does not say `%s`", value)
		}
	}
}
