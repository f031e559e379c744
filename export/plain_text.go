package export

import (
	"regexp"
	"strings"
	"unicode"
)

// textWidth is the width of remarks in columns.
const textWidth = 80

// columns estimates the width of text on a terminal, and never too low: 0 for combining marks, 2 from the first wide block
// (Hangul Jamo) on.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x1100:
			n += 2
		default:
			n++
		}
	}
	return n
}

// cut shortens text to width columns; an ellipsis marks the cut.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		used += columns(string(r))
		if used > width-2 { // the ellipsis counts as two
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks text between words into lines of at most width columns. All but the first are indented.
func wrap(text string, width int) string { return fill(strings.Fields(text), " ", "  ", width) }

// fill fills lines of at most width columns with words. All but the first are indented.
func fill(words []string, between, indent string, width int) string {
	lines, line := "", ""
	for i, word := range words {
		switch {
		case i == 0:
			line = word
		case columns(line)+columns(between)+columns(word) > width:
			lines += line + "\n"
			line = indent + word
		default:
			line += between + word
		}
	}
	if line == "" {
		return ""
	}
	return lines + line + "\n"
}

// escapes matches terminal escape sequences that begin with ESC or the equivalent C1 control: control sequences (CSI), strings
// that end in BEL or ST (OSC, DCS, SOS, PM, APC), and short sequences.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[\x20-\x3f]*[\x40-\x7e]" +
	"|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)" +
	"|\x1b[\x20-\x2f]*[\x30-\x7e]")

// Clean makes foreign text safe to show: one line of valid UTF-8 without escape sequences, control characters and invisible
// characters that reorder text. A run of white space becomes one blank.
func Clean(s string) string {
	s = escapes.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
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
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cutASCII makes foreign text ASCII and cuts it to width columns.
func cutASCII(s string, width int) string {
	s = strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, Clean(s))
	if len(s) > width {
		return s[:max(0, width-3)] + "..."
	}
	return s
}

// JoinWords joins words as in a sentence: a, b and c.
func JoinWords(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}
