package httpapi

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/murmurate/murmurate/limiter"
	"github.com/murmurate/murmurate/policy"
)

// appendDecision appends d as JSON. It is on the way of every check and
// allocates nothing.
func appendDecision(b []byte, d *policy.Decision) []byte {
	return appendDecisionWith(b, d, true, appendLimit)
}

// appendDecisionWith appends d, with or without what was asked for, and each of
// its limits as limit does.
func appendDecisionWith(b []byte, d *policy.Decision, cost bool, limit func([]byte, *policy.LimitResult) []byte) []byte {
	b = appendBool(b, `{"allowed":`, d.Allowed)
	b = appendString(b, `,"policy":`, d.Policy)
	b = appendInt(b, `,"limit":`, d.Limit)
	b = appendInt(b, `,"remaining":`, d.Remaining)
	if cost {
		b = appendInt(b, `,"cost":`, d.Cost)
	}
	b = appendMillis(b, `,"retry_after_ms":`, d.RetryAfter)
	b = appendMillis(b, `,"reset_after_ms":`, d.ResetAfter)
	b = appendMillis(b, `,"delay_ms":`, d.Delay)
	b = appendString(b, `,"source":`, d.Source.String())
	b = appendBool(b, `,"shadow":`, d.Shadow)
	b = append(b, `,"denied_by":[`...)
	separator := ""
	for i := range d.Limits {
		if l := &d.Limits[i]; !l.Allowed && (d.Allowed || !l.Shadow) { // as Decision.DeniedBy
			b = appendString(b, separator, l.Name)
			separator = ","
		}
	}
	b = append(b, `],"limits":[`...)
	separator = ""
	for i := range d.Limits {
		b = append(b, separator...)
		b = limit(b, &d.Limits[i])
		separator = ","
	}
	b = append(b, ']')
	if d.Receipt != "" {
		b = appendString(b, `,"receipt":`, d.Receipt)
	}
	return append(b, '}')
}

func appendLimit(b []byte, l *policy.LimitResult) []byte {
	b = appendString(b, `{"name":`, l.Name)
	b = appendInt(b, `,"limit":`, l.Limit)
	b = appendInt(b, `,"remaining":`, l.Remaining)
	b = appendBool(b, `,"allowed":`, l.Allowed)
	b = appendMillis(b, `,"retry_after_ms":`, l.RetryAfter)
	b = appendMillis(b, `,"reset_after_ms":`, l.ResetAfter)
	b = appendMillis(b, `,"next_unit_ms":`, l.NextUnit)
	b = appendMillis(b, `,"window_ms":`, l.Window)
	b = appendString(b, `,"unit":`, l.Unit.String())
	return append(b, '}')
}

func appendBool(b []byte, label string, v bool) []byte {
	return strconv.AppendBool(append(b, label...), v)
}

func appendInt(b []byte, label string, v int64) []byte {
	return strconv.AppendInt(append(b, label...), v, 10)
}

// appendMillis rounds up, so that who waits that long has waited enough.
// limiter.Never is -1.
func appendMillis(b []byte, label string, d time.Duration) []byte {
	if d == limiter.Never {
		return appendInt(b, label, -1)
	}
	return appendInt(b, label, ceil(d, time.Millisecond))
}

// ceil is d in whole units, rounded up.
func ceil(d, unit time.Duration) int64 {
	n := int64(d / unit)
	if d%unit > 0 {
		n++
	}
	return n
}

// appendString writes s as the json package would. Names hold nothing to
// escape, so they are only copied.
func appendString(b []byte, label, s string) []byte {
	b = append(b, label...)
	if strings.ContainsFunc(s, special) {
		quoted, _ := json.Marshal(s) // a string cannot fail
		return append(b, quoted...)
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func special(r rune) bool {
	return r < ' ' || r >= utf8.RuneSelf || r == '"' || r == '\\' || r == '<' || r == '>' || r == '&'
}
