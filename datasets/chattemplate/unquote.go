package chattemplate

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unquote decodes what stands between the quotes of a string, by Python's rules: escapes it does not know stay as they
// are.
func unquote(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, err := unescape(&b, s[i:])
		if err != nil {
			return "", err
		}
		i += n
	}
	return b.String(), nil
}

// unescape writes what the escape at the beginning of s stands for, and returns its length.
func unescape(b *strings.Builder, s string) (int, error) {
	const simple, meaning = `\'"abfnrtv`, "\\'\"\a\b\f\n\r\t\v"
	c := s[1]
	if i := strings.IndexByte(simple, c); i >= 0 {
		b.WriteByte(meaning[i])
		return 2, nil
	}
	switch {
	case c == '\n':
		return 2, nil
	case c == 'x':
		return unescapeHex(b, s, 2)
	case c == 'u':
		return unescapeHex(b, s, 4)
	case c == 'U':
		return unescapeHex(b, s, 8)
	case c == 'N' || c >= utf8.RuneSelf:
		return 0, fmt.Errorf("the escape %q in a string is not supported", s[:2])
	case c >= '0' && c <= '7':
		n := 1
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		code, _ := strconv.ParseUint(s[1:n], 8, 32) // three octal digits at most
		b.WriteRune(rune(code))
		return n, nil
	}
	b.WriteString(s[:2])
	return 2, nil
}

func unescapeHex(b *strings.Builder, s string, digits int) (int, error) {
	if len(s) < 2+digits {
		return 0, fmt.Errorf("the escape %q in a string is cut off", s)
	}
	code, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil || !utf8.ValidRune(rune(code)) || code > utf8.MaxRune {
		return 0, fmt.Errorf("the escape %q in a string is no character", s[:2+digits])
	}
	b.WriteRune(rune(code))
	return 2 + digits, nil
}
