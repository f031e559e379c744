package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"benchtop/internal/text"

	"github.com/charmbracelet/x/ansi"
)

// prepended are the letters that form one cluster with the next character, even a blank: the visible ones of the class
// Prepend of Unicode's UAX 29. In a cell of its own such a letter would take the next cell as well.
var prepended = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x0d4e, Hi: 0x0d4e, Stride: 1}},
	R32: []unicode.Range32{
		{Lo: 0x111c2, Hi: 0x111c3, Stride: 1},
		{Lo: 0x113d1, Hi: 0x113d1, Stride: 1},
		{Lo: 0x1193f, Hi: 0x11941, Stride: 2},
		{Lo: 0x11a84, Hi: 0x11a89, Stride: 1},
		{Lo: 0x11d46, Hi: 0x11d46, Stride: 1},
		{Lo: 0x11f02, Hi: 0x11f02, Stride: 1},
	},
}

// Sanitize makes foreign text safe to show, by the rule of text.Clean. A screen has a cell for each letter, so joiners,
// variation selectors, skin tones and letters that join the next one are dropped too: terminals disagree about their
// width. More than two combining marks on a letter are dropped.
func Sanitize(s string) string {
	if isPlain(s) {
		return s
	}
	marks := 0
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector, prepended), r >= 0x1f3fb && r <= 0x1f3ff:
			return -1
		case !unicode.Is(unicode.M, r):
			marks = 0
		case marks == 2:
			return -1
		default:
			marks++
		}
		return r
	}, text.Clean(s))
	return strings.Join(strings.Fields(s), " ")
}

// SanitizeSpaced is Sanitize for a line in columns: its blanks stay.
func SanitizeSpaced(s string) string {
	if isPlain(s) {
		return s
	}
	words := strings.Split(s, " ")
	for i, w := range words {
		words[i] = Sanitize(w)
	}
	return strings.TrimRight(strings.Join(words, " "), " ")
}

// isPlain reports whether Sanitize has nothing to do: printable ASCII, single blanks, none at the ends.
func isPlain(s string) bool {
	before := byte(' ')
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e || s[i] == ' ' && before == ' ' {
			return false
		}
		before = s[i]
	}
	return before != ' ' || s == ""
}

// Width is the number of columns s takes on the screen.
func Width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Shorten cuts s to w columns with an ellipsis.
func Shorten(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if Width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// ShortenMiddle cuts s to w columns and keeps both ends: the end of a path or a model name often says more.
func ShortenMiddle(s string, w int) string {
	n := Width(s)
	if n <= w {
		return s
	}
	if w < 8 {
		return Shorten(s, w)
	}
	half := w / 2
	tail := ansi.TruncateLeft(s, n-half, "")
	for cut := n - half + 1; Width(tail) > half; cut++ {
		tail = ansi.TruncateLeft(s, cut, "") // the cut went through a wide glyph
	}
	return ansi.Truncate(s, w-1-half, "") + "…" + tail
}

// Wrap breaks s into lines of at most w columns, at spaces where there are any.
func Wrap(s string, w, most int) []string {
	var lines []string
	for s = strings.TrimSpace(s); s != "" && len(lines) < most; {
		if Width(s) <= w {
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
			return append(lines, Shorten(s, w))
		}
		lines = append(lines, head)
		s = strings.TrimSpace(s[len(head):])
	}
	return lines
}

// foldMost bounds how many lines of foreign text are kept for the screen.
const foldMost = 2000

// Fold breaks foreign text of several lines into lines of at most w columns, at blanks where there are any. It takes
// time in proportion to the text, where Wrap is for a few lines.
func Fold(s string, w int) []string {
	var out []string
	for _, part := range strings.Split(s, "\n") {
		if part = Sanitize(part); part == "" {
			if len(out) > 0 && out[len(out)-1] != "" {
				out = append(out, "")
			}
			continue
		}
		if out = foldLine(out, part, max(w, 1)); len(out) >= foldMost {
			return out[:foldMost]
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// foldLine appends the lines of one paragraph that is clean already.
func foldLine(out []string, s string, w int) []string {
	start, blank, n := 0, -1, 0 // bytes where the line begins and where its last blank is, columns so far
	for i := 0; i < len(s) && len(out) < foldMost; {
		size, cols := 1, 1
		if s[i] >= 0x80 || i+1 < len(s) && s[i+1] >= 0x80 {
			var cluster string
			cluster, cols = ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
			size = max(1, len(cluster))
		}
		if s[i] == ' ' {
			blank = i
		}
		if n+cols > w && i > start {
			switch {
			case s[i] == ' ':
				out = append(out, s[start:i])
				i++
				start, blank, n = i, -1, 0
				continue
			case blank > start:
				out = append(out, s[start:blank])
				start = blank + 1
				n = Width(s[start:i])
			default:
				out = append(out, s[start:i])
				start, n = i, 0
			}
			blank = -1
		}
		i += size
		n += cols
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
