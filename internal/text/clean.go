// Package text has what words need before a person reads them.
package text

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes matches terminal escape sequences that begin with ESC or the equivalent C1 control: control sequences (CSI),
// strings that end in BEL or ST (OSC, DCS, SOS, PM, APC), and short sequences.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[\x20-\x3f]*[\x40-\x7e]" +
	"|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)" +
	"|\x1b[\x20-\x2f]*[\x30-\x7e]")

// Visible is text in valid UTF-8 without terminal escape sequences.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !strings.ContainsAny(s, "\x1b\u0090\u0098\u009b\u009d\u009e\u009f") {
		return s
	}
	return escapes.ReplaceAllString(s, "")
}

// Clean makes foreign text safe to show: one line of valid UTF-8 without escape sequences, control characters and
// invisible characters that reorder text. A run of white space becomes one blank.
func Clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case r == '\u200c' || r == '\u200d': // joiners are part of scripts and emoji
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, Visible(s))
	return strings.Join(strings.Fields(s), " ")
}
