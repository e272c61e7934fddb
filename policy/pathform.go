package policy

import (
	"bytes"
	"strings"
)

// NormalPath is the one form of a path that policies match and key by, so
// that no other way of writing it escapes a limit: /login, /login/, //login,
// /%6Cogin, /x/../login and /login;a=b are all /login.
//
// Percent-encodings are decoded (RFC 3986, section 6.2.2.2, and beyond it the
// reserved characters too, as servers do), except those of '/', '%', '?' and
// '#', which would mean something else: an encoded slash stays "%2F". A '%'
// that encodes nothing is written "%25". The parameters of a segment are cut
// off, which begin with a semicolon (section 3.3), encoded or not. Empty
// segments are dropped, and then dot segments resolved (section 5.2.4, as
// path.Clean). A query or fragment that came along is cut off. No path at all
// is "/", and the case of letters is kept. The result always begins with '/',
// ends with one only if it is "/", and is its own normal form.
func NormalPath(path string) string {
	if isNormal(path) {
		return path
	}
	return normalized(path, false)
}

// readings are the normal form of path, and what it is to servers that know no
// parameters, to which /a/..;/b is no detour. whole is empty if that is the
// same.
func readings(path string) (normal, whole string) {
	if isNormal(path) {
		return path, ""
	}
	normal = normalized(path, false)
	if strings.Contains(path, ";") || strings.Contains(path, "%3B") || strings.Contains(path, "%3b") {
		if whole = normalized(path, true); whole == normal {
			whole = ""
		}
	}
	return normal, whole
}

// normalized is the normal form of path, or if whole, what it would be with the
// parameters of its segments.
func normalized(path string, whole bool) string {
	normal := make([]byte, 0, len(path)+3)
	for rest := path; rest != ""; {
		begin := len(normal)
		normal, rest = appendSegment(append(normal, '/'), rest, whole)
		switch string(normal[begin+1:]) {
		case "", ".":
			normal = normal[:begin]
		case "..":
			normal = normal[:max(bytes.LastIndexByte(normal[:begin], '/'), 0)]
		}
	}
	if len(normal) == 0 {
		return "/"
	}
	return string(normal)
}

// isNormal reports whether path is plainly in normal form. False: it may be
// or not.
func isNormal(path string) bool {
	if len(path) < 2 || path[0] != '/' {
		return path == "/"
	}
	for i := 1; i < len(path); i++ {
		switch path[i] {
		case '%', '?', '#', ';':
			return false
		case '/', '.': // after a slash, either may be the beginning of what is dropped
			if path[i-1] == '/' {
				return false
			}
		}
	}
	return path[len(path)-1] != '/'
}

// appendSegment appends the first segment of path, decoded, and returns what
// follows its slash; nothing follows a query. whole: with its parameters.
func appendSegment(b []byte, path string, whole bool) (segment []byte, rest string) {
	for i := 0; i < len(path); i++ {
		c, encoded := path[i], false
		if c == '%' {
			if c, encoded = unhex(path[i+1:]); !encoded {
				b = append(b, "%25"...)
				continue
			}
			i += 2
		}
		switch {
		case c == ';' && !whole:
			return b, afterSegment(path[i+1:])
		case encoded:
			b = appendDecoded(b, c)
		case c == '/', c == '?', c == '#':
			return b, afterSegment(path[i:])
		default:
			b = append(b, c)
		}
	}
	return b, ""
}

// afterSegment is what follows the first slash of path; nothing follows a
// query.
func afterSegment(path string) string {
	end := strings.IndexAny(path, "/?#")
	if end < 0 || path[end] != '/' {
		return ""
	}
	return path[end+1:]
}

// appendDecoded appends what c, which came encoded, is in normal form.
func appendDecoded(b []byte, c byte) []byte {
	switch c {
	case '/':
		return append(b, "%2F"...)
	case '%':
		return append(b, "%25"...)
	case '?':
		return append(b, "%3F"...)
	case '#':
		return append(b, "%23"...)
	}
	return append(b, c)
}

// unhex reads the two hexadecimal digits that s begins with.
func unhex(s string) (c byte, ok bool) {
	if len(s) < 2 {
		return 0, false
	}
	high, low := hexDigit(s[0]), hexDigit(s[1])
	return high<<4 | low, high < 16 && low < 16
}

// hexDigit is the value of a hexadecimal digit, and 255 of anything else.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// nextSegment cuts the first segment off a path in normal form. path is empty
// at the end.
func nextSegment(path string) (segment, rest string) {
	if path == "/" || path == "" {
		return "", ""
	}
	if end := strings.IndexByte(path[1:], '/'); end >= 0 {
		return path[1 : end+1], path[end+1:]
	}
	return path[1:], ""
}
