package metrics

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"

	"benchtop/internal/text"
)

// The reasons for which an answer is garbage.
const (
	GarbageEmpty      = "empty"
	GarbageCut        = "cut by nothing"
	GarbageControl    = "control characters"
	GarbageBroken     = "broken characters"
	GarbageRepetition = "repetition"
)

const (
	// garbageSeen is how much of the end of an answer is looked at, in bytes; loopSeen is for loops.
	garbageSeen = 32 << 10
	loopSeen    = 4 << 10
	// oddLeast characters, and one in oddPart of all, are no accident.
	oddLeast, oddPart = 3, 20
	// A loop has loopTimes turns or more. It is half of what is seen of the answer and loopBytes long, or loopWhole
	// long and all of it, or three quarters of it by loopOften turns.
	loopTimes, loopOften, loopBytes, loopWhole = 8, 16, 128, 32
	garbageDetail                              = 80
)

// Garbage is why an answer is none for a reader, "" where it may be one, with what shows it: foreign text.
type Garbage struct{ Reason, Detail string }

// Garbage judges the text of a success that is none for a reader, whatever was asked: empty, ended without a reason, of
// characters that no text has, or a loop to its end. more says that the output has more than the text. It is cautious:
// an answer without a fault passes, and so may one with some. The model can be the cause of each.
func (p *Plan) Garbage(q *Request, answer []byte, more bool) (g Garbage) {
	seen := answer[max(0, len(answer)-garbageSeen):]
	for len(seen) < len(answer) && len(seen) > 0 && !utf8.RuneStart(seen[0]) {
		seen = seen[1:]
	}
	control, broken, all := oddCharacters(seen)
	odd := func(n int) bool { return n >= oddLeast && n*oddPart >= all }
	switch turn := loop(seen[max(0, len(seen)-loopSeen):]); {
	case len(bytes.TrimSpace(answer)) == 0:
		if !more && !q.Refusal && (q.OutputTokens > 1 || q.Finish != "length") {
			g.Reason, g.Detail = GarbageEmpty, strconv.Itoa(q.OutputTokens)+" tokens without a text"
		}
		return g
	case p.cutShort(q):
		g.Reason = GarbageCut
	case odd(control):
		g.Reason = GarbageControl
	case odd(broken):
		g.Reason = GarbageBroken
	case turn > 0:
		g.Reason, seen = GarbageRepetition, seen[len(seen)-min(len(seen), garbageDetail/2):]
	default:
		return g
	}
	g.Detail = text.Clip(strconv.Quote(text.Clip(string(seen), garbageDetail)), garbageDetail)
	return g
}

// cutShort reports whether an answer ended without a reason, or by a limit on its length that it did not reach.
func (p *Plan) cutShort(q *Request) bool {
	switch {
	case q.Finish == "":
		return p.Finishes && !p.Whole
	case q.Finish != "length" || q.OutputSource != TokensFromUsage || q.InputSource != TokensFromUsage || q.Inputs > 1:
		return false
	}
	return q.MaxTokens > 0 && q.OutputTokens < q.MaxTokens &&
		p.Context > 0 && q.InputTokens+q.OutputTokens < p.Context-1
}

// oddCharacters counts control characters that no text has; characters that are broken, private or unassigned for good,
// but for a last one that the end of the answer cut; and all.
func oddCharacters(s []byte) (control, broken, all int) {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		s = s[n:]
		all++
		switch {
		case r >= ' ' && r < 0x7f: // most, by far
		case r == utf8.RuneError && len(s) == 0:
		case r == utf8.RuneError, unicode.Is(unicode.Co, r), r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
			broken++
		case unicode.IsControl(r) && !unicode.IsSpace(r):
			control++
		}
	}
	return control, broken, all
}

// drawn are the characters of lines and tables.
const drawn = "-=_*#~.+|:<> \t\n"

// figures are those of other lines, of large numbers and of lists of zeros as well.
const figures = drawn + "/\\─═━0123456789,;()[]"

// loop is the length in bytes of the turn of a loop that goes to the end of a text, 0 for none. One of drawn lines is
// none, but where there is nothing else.
func loop(s []byte) (turn int) {
	s = bytes.TrimRightFunc(s, unicode.IsSpace)
	n := len(s)
	// borders[i] is the length of the longest end of the last i bytes that is also their beginning (Knuth, Morris and
	// Pratt 1977, "Fast pattern matching in strings"), read backwards.
	borders, longest := make([]int32, n+1), 0
	for i, b := 1, int32(0); i < n; i++ {
		for b > 0 && s[n-1-i] != s[n-1-int(b)] {
			b = borders[b]
		}
		if s[n-1-i] == s[n-1-int(b)] {
			b++
		}
		borders[i+1] = b
		if period := i + 1 - int(b); period*loopTimes <= i+1 {
			longest, turn = i+1, period
		}
	}
	often := len(bytes.Trim(s[n-turn:], figures)) > 0 && longest >= loopOften*turn && 4*longest >= 3*n
	line := len(bytes.Trim(s[n-turn:], drawn)) == 0
	switch {
	case longest == n && longest >= loopBytes, (longest == n || often) && longest >= loopWhole && !line:
		return turn
	case longest >= loopBytes && 2*longest >= n && !line:
		return turn
	}
	return 0
}
