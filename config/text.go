package config

import (
	"fmt"
	"unicode/utf8"
)

// notText finds the first character that no YAML in UTF-8 holds (YAML 1.2.2,
// section 5.1). The parser would refuse it without its line, and reads
// UTF-16 only if it begins with a mark. Line 0: there is none.
func notText(data []byte) (line int, detail string) {
	line = 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && size == 1, r == 0:
			return line, fmt.Sprintf("is no text in UTF-8 (byte 0x%02x): save it in that encoding", data[0])
		case !yamlHolds(r):
			return line, fmt.Sprintf("is no YAML: the character %U is not allowed: remove it", r)
		}
		data = data[size:]
	}
	return 0, ""
}

func yamlHolds(r rune) bool {
	switch {
	case r < ' ':
		return r == '\t' || r == '\n' || r == '\r'
	case r >= 0x7f && r < 0xa0:
		return r == 0x85 // next line
	}
	return r != 0xfffe && r != 0xffff
}
