package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	errNotUTF8   = errors.New("must be valid UTF-8")
	errSurrogate = errors.New("has an escaped surrogate without its other half, which is no character")
)

// unquote returns the string that raw, with its quotes, stands for.
func unquote(raw []byte) (string, error) {
	inner := raw[1 : len(raw)-1]
	if !utf8.Valid(inner) {
		return string(inner), errNotUTF8
	}
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), nil
	}
	if loneSurrogate(inner) { // json.Unmarshal would put U+FFFD in its place
		return string(inner), errSurrogate
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// loneSurrogate looks for a \u escape that is half a character (RFC 8259,
// section 8.2).
func loneSurrogate(s []byte) bool {
	high := false // the escape just before was the first half of a pair
	for i := 0; i < len(s); {
		unit, size := rune(0), 1
		if s[i] == '\\' {
			size = 2
			if s[i+1] == 'u' {
				size = 6
				n, err := strconv.ParseUint(string(s[i+2:i+6]), 16, 16)
				if err != nil {
					return true
				}
				unit = rune(n)
			}
		}
		low := utf16.IsSurrogate(unit) && unit >= 0xDC00
		if low != high {
			return true
		}
		high = utf16.IsSurrogate(unit) && !low
		i += size
	}
	return high
}
