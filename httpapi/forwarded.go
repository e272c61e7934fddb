package httpapi

import (
	"net/netip"
	"strings"
)

// forwarded is the field of RFC 7239: elements between commas, each of
// parameters between semicolons, of which for=NODE names the client. NODE is
// an address, perhaps with a port, or "unknown", or an obfuscated name such as
// _proxy7; neither of the last two is an address.
//
// Proxies are not all as strict as the grammar. What it would have quoted (a
// colon, brackets) is read without quotes too, and so is space around a
// semicolon, because neither can be mistaken for anything else.
var forwarded = forwardingHeader{"Forwarded", cutLastElement, forAddress}

// cutLastElement splits the last element off a list. A comma inside quotes
// splits nothing. The list is read from the right, where a quote with an even
// number of backslashes before it begins or ends a string: so that what stands
// left of an element, which the client may have sent, cannot change how the
// element is read. A quote without its other one leaves an element that
// forAddress refuses.
func cutLastElement(list string) (rest, element string, more bool) {
	quoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch list[i] {
		case ',':
			if !quoted {
				return list[:i], trimSpace(list[i+1:]), true
			}
		case '"':
			backslashes := trailingBackslashes(list[:i])
			if backslashes%2 == 0 {
				quoted = !quoted
			}
			i -= backslashes
		}
	}
	return "", trimSpace(list), false
}

func trailingBackslashes(s string) int {
	return len(s) - len(strings.TrimRight(s, `\`))
}

// forAddress returns the address in the for parameter of an element. An
// element that does not follow the grammar, or has the parameter twice, names
// nobody.
func forAddress(element string) (addr netip.Addr, ok bool) {
	node, found := "", false
	for element != "" {
		if element[0] == ';' { // parameters may be empty
			element = trimSpace(element[1:])
			continue
		}
		name, rest, assigned := strings.Cut(element, "=")
		value, rest, valued := cutValue(rest)
		if !assigned || !valued || name == "" || strings.ContainsAny(name, " \t\",;") {
			return addr, false
		}
		element = trimSpace(rest)
		if strings.EqualFold(name, "for") {
			if found {
				return addr, false
			}
			node, found = value, true
		}
	}
	return parseNode(unescape(node))
}

// cutValue splits the value of a parameter, without quotes but with its
// escapes, off what follows the equals sign. rest is empty or begins with a
// semicolon.
func cutValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexByte(s, ';')
		if end < 0 {
			end = len(s)
		}
		value, rest = strings.TrimRight(s[:end], " \t"), s[end:]
		return value, rest, value != "" && !strings.ContainsAny(value, " \t\",\\")
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++ // the quote that it escapes ends nothing
		case '"':
			value, rest = s[1:i], strings.TrimLeft(s[i+1:], " \t")
			return value, rest, rest == "" || rest[0] == ';'
		}
	}
	return "", "", false
}

// unescape resolves the quoted pairs of a quoted-string (RFC 9110, section
// 5.6.4). An address needs none, so this seldom has to make a string.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
