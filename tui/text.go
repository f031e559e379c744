package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// sanitize makes foreign text safe to show: valid UTF-8 without control characters, escape sequences or anything else
// that moves the cursor, changes direction or has no width of its own. Line ends and tabs become spaces. Joiners,
// variation selectors and skin tones go too, because terminals do not agree on how wide such emoji are; without them
// all agree.
func sanitize(s string) string {
	clean := true
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	marks := 0
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			r = ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r),
			r >= 0x1f3fb && r <= 0x1f3ff:
			continue
		}
		if unicode.Is(unicode.M, r) {
			// Two marks on a letter are a language, twenty are a joke on the lines above.
			if marks++; marks > 2 {
				continue
			}
		} else {
			marks = 0
		}
		b.WriteRune(r) // an invalid byte came as U+FFFD
	}
	return b.String()
}

// width is the number of columns s takes on the screen.
func width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// shorten cuts s to w columns with an ellipsis.
func shorten(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// shortenMiddle keeps both ends of s: of a path or a model name the end often says more.
func shortenMiddle(s string, w int) string {
	n := width(s)
	if n <= w {
		return s
	}
	if w < 8 {
		return shorten(s, w)
	}
	half := w / 2
	tail := ansi.TruncateLeft(s, n-half, "")
	for cut := n - half + 1; width(tail) > half; cut++ {
		tail = ansi.TruncateLeft(s, cut, "") // the cut went through a wide glyph
	}
	return ansi.Truncate(s, w-1-half, "") + "…" + tail
}

// wrap breaks s into lines of at most w columns, at spaces where there are any.
func wrap(s string, w, most int) []string {
	var lines []string
	for s = strings.TrimSpace(s); s != "" && len(lines) < most; {
		if width(s) <= w {
			return append(lines, s)
		}
		head := ansi.Truncate(s, w, "")
		if i := strings.LastIndexByte(head, ' '); i > len(head)/2 {
			head = head[:i]
		}
		if head == "" {
			_, n := utf8.DecodeRuneInString(s)
			head = s[:n]
		}
		if len(lines) == most-1 {
			return append(lines, shorten(s, w))
		}
		lines = append(lines, head)
		s = strings.TrimSpace(s[len(head):])
	}
	return lines
}
