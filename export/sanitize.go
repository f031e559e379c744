package export

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes matches terminal escape sequences, introduced by ESC or by the C1 control that stands for it: control
// sequences (CSI), strings that run to BEL or ST (OSC, DCS, SOS, PM, APC), and the short ones.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[\x20-\x3f]*[\x40-\x7e]" +
	"|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)" +
	"|\x1b[\x20-\x2f]*[\x30-\x7e]")

// Clean makes foreign text fit to be shown: one line of valid UTF-8 without escape sequences, control characters and
// the invisible characters that reorder text. White space of any kind and length becomes one blank.
func Clean(s string) string {
	s = escapes.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case r == '\u200c' || r == '\u200d': // joiners, which scripts and emoji need
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
