package policy

import (
	"slices"
	"strings"
)

// keyMaker makes the key of a request: one part of each entry.
type keyMaker []keyEntry

// keyEntry holds sources of which the first that a request has is taken.
type keyEntry []source

// parseKey reads the key of a policy as written, one entry of alternatives
// such as "header:X-Api-Key | ip" for each part.
func parseKey(written []string, captured []string, fault faultFunc) keyMaker {
	var made keyMaker
	for i, text := range written {
		field := indexed("key", i)
		var entry keyEntry
		for alternative := range strings.SplitSeq(text, "|") {
			s, err := parseSource(strings.TrimSpace(alternative), captured)
			switch {
			case err != nil:
				fault(field, "%v", err)
			case slices.Contains(entry, s):
				fault(field, "%s is there twice", clip(s.String()))
			case len(entry) > 0 && entry[len(entry)-1].kind == KeyGlobal:
				fault(field, "what follows global is never taken, as every request has it: put global last")
			}
			entry = append(entry, s)
		}
		if len(written) > 1 && len(entry) == 1 && entry[0].kind == KeyGlobal {
			fault(field, "global is one counter for everybody and changes nothing beside other parts: leave it out")
		}
		made = append(made, entry)
	}
	return made
}

// shared reports whether the key is the same whatever the request.
func (k keyMaker) shared() bool { return len(k) == 1 && k[0][0].kind == KeyGlobal }

// of makes the key of v. A request that has none of an entry's sources counts
// as lacking the last, and shares a counter with all others that do. What it
// has several times, with different values, it lacks.
func (k keyMaker) of(v *view) string {
	var room [4]KeyPart
	parts := room[:0]
	for _, entry := range k {
		s, value := entry.take(v)
		parts = append(parts, KeyPart{Kind: s.kind, Name: s.name, Value: value})
	}
	return JoinKey(parts...)
}

// take is the source that v's part is made of, and its value.
func (e keyEntry) take(v *view) (taken *source, value string) {
	for i := range e {
		taken = &e[i]
		if value = v.only(taken); value != "" || taken.kind == KeyGlobal {
			break
		}
	}
	return taken, value
}
