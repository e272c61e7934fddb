package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Whatever is set, removed and told in whatever order, twice or not at all,
// over restarts and however much time goes by: once everybody has told
// everybody, all have the same.
func TestOverridesConverge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var failure any // rapid's, for the goroutine that it is in
		synctest.Test(t, func(*testing.T) {
			defer func() { failure = recover() }()
			converge(rt)
		})
		if failure != nil {
			panic(failure)
		}
	})
}

// group is some nodes and the messages on their way between them.
type group struct {
	nodes    []*Overrides
	disks    []*disk
	messages []message
}

type message struct {
	to    int
	bytes []byte
}

func converge(t *rapid.T) {
	g := &group{}
	for i := range rapid.IntRange(2, 4).Draw(t, "nodes") {
		g.disks = append(g.disks, &disk{})
		g.nodes = append(g.nodes, g.start(i))
	}
	defer func() {
		for _, m := range g.nodes {
			m.shut()
		}
	}()
	anybody := rapid.IntRange(0, len(g.nodes)-1)
	anything := rapid.IntRange(0, 3)
	t.Repeat(map[string]func(*rapid.T){
		"set": func(t *rapid.T) {
			i := anybody.Draw(t, "node")
			left := rapid.SampledFrom([]time.Duration{0, 10 * time.Second, time.Hour, 3 * endedLife}).Draw(t, "left")
			value := fmt.Sprint(g.nodes[i].Head(), " by ", i)
			if _, err := g.nodes[i].Set(numbered(anything.Draw(t, "subject")), []byte(value), left); err != nil {
				t.Fatal(err)
			}
		},
		"remove": func(t *rapid.T) {
			if _, err := g.nodes[anybody.Draw(t, "node")].Remove(numbered(anything.Draw(t, "subject"))); err != nil {
				t.Fatal(err)
			}
		},
		"send": func(t *rapid.T) {
			from := g.nodes[anybody.Draw(t, "from")]
			b, _ := from.Since(nil, rapid.Uint64Range(0, from.Head()).Draw(t, "after"), rapid.IntRange(1, 300).Draw(t, "limit"))
			if len(b) > 0 {
				g.messages = append(g.messages, message{anybody.Draw(t, "to"), b})
			}
		},
		"receive": func(t *rapid.T) {
			if len(g.messages) == 0 {
				return
			}
			m := g.messages[rapid.IntRange(0, len(g.messages)-1).Draw(t, "message")] // and perhaps again
			if err := g.nodes[m.to].Merge(m.bytes); err != nil {
				t.Fatal(err)
			}
		},
		"restart": func(t *rapid.T) {
			i := anybody.Draw(t, "node")
			g.nodes[i].shut()
			time.Sleep(time.Millisecond) // it takes some time
			if rapid.Bool().Draw(t, "without a disk") {
				g.disks[i] = &disk{}
			}
			g.nodes[i] = g.start(i)
		},
		"wait": func(t *rapid.T) {
			g.messages = nil // which last milliseconds
			time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, endedLife / 2, endedLife + time.Hour}).Draw(t, "time"))
		},
	})
	time.Sleep(500 * time.Millisecond) // away from the instants at which something expires
	for round := 0; g.tellAll(t); round++ {
		if round > 2*len(g.nodes) {
			t.Fatal("they have something to tell each other without end")
		}
	}
	first := fmt.Sprint(g.seenBy(0))
	for i := range g.nodes {
		if seen := fmt.Sprint(g.seenBy(i)); seen != first {
			t.Errorf("node %d has %s\nnode 0 has %s", i, seen, first)
		}
	}
}

func (g *group) start(i int) *Overrides {
	d := g.disks[i]
	m := NewOverrides(OverridesOptions{Node: fmt.Sprint("n", i), Store: d, Saved: d.saved()})
	m.Start()
	return m
}

// tellAll has everybody tell everybody everything, and reports whether anybody
// has heard anything new.
func (g *group) tellAll(t *rapid.T) (news bool) {
	for _, a := range g.nodes {
		for _, b := range g.nodes {
			before := b.Head()
			if message, _ := a.Since(nil, 0, 1<<20); len(message) > 0 {
				if err := b.Merge(message); err != nil {
					t.Fatal(err)
				}
			}
			news = news || b.Head() != before
		}
	}
	return news
}

func (g *group) seenBy(i int) (seen []string) {
	for _, o := range g.nodes[i].All() {
		seen = append(seen, fmt.Sprintf("%d=%q (%s, %d)", o.Subject.Hi, o.Value, o.Node, o.Counter))
	}
	return seen
}
