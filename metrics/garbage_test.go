package metrics

import (
	"fmt"
	"strings"
	"testing"
)

// Garbage is found by its reason, and no honest answer is accused.
func TestGarbage(t *testing.T) {
	prose := "The quick brown fox jumps over the lazy dog, and then it rests in the shade of an old oak tree. "
	for _, c := range []struct {
		name, answer string
		change       func(p *Plan, q *Request)
		more         bool
		want         string
	}{
		{name: "prose", answer: prose},
		{name: "prose twice", answer: prose + prose},
		{name: "cut within a character", answer: prose + "日本"[:4]},
		{name: "one lost character", answer: prose + "\ufffd " + prose},
		{name: "a long table", answer: "| a | b |\n" + strings.Repeat("|---|---|", 40)},
		{name: "a rule below a title", answer: "Title\n" + strings.Repeat("=", 300)},
		{name: "a short refrain", answer: prose + strings.Repeat("la ", 20)},
		{name: "blank lines at the end", answer: prose + strings.Repeat("\n", 500)},
		{name: "a list that grows", answer: func() (s string) {
			for i := range 200 {
				s += fmt.Sprintf("%d, ", i)
			}
			return s
		}()},
		{name: "characters of other planes", answer: strings.Repeat("𠀀😀é日", 2) + prose},
		{name: "tabs and line ends", answer: "a\tb\r\nc\fd\v" + prose},
		{name: "one token of no text", change: func(_ *Plan, q *Request) { q.OutputTokens, q.Finish = 1, "length" }},
		{name: "reasoning alone", more: true},
		{name: "a refusal", change: func(_ *Plan, q *Request) { q.Refusal = true }},
		{name: "full context", answer: prose, change: func(p *Plan, q *Request) {
			p.Context, q.MaxTokens, q.OutputTokens, q.InputTokens, q.Finish = 100, 90, 60, 40, "length"
		}},
		{name: "a protocol without reasons", answer: prose, change: func(p *Plan, q *Request) {
			p.Finishes, q.Finish = false, ""
		}},
		{name: "a large number", answer: "That is 1" + strings.Repeat("0", 30) + "."},
		{name: "a hash of zeros", answer: "It is 0x" + strings.Repeat("0", 64)},
		{name: "a vector of zeros", answer: "v = [" + strings.Repeat("0, ", 29) + "0]"},

		{name: "nothing", want: GarbageEmpty},
		{name: "blanks", answer: " \n\t", want: GarbageEmpty},
		{name: "ended without a reason", answer: prose, want: GarbageCut,
			change: func(_ *Plan, q *Request) { q.Finish = "" }},
		{name: "cut with room left", answer: prose, want: GarbageCut, change: func(p *Plan, q *Request) {
			p.Context, q.MaxTokens, q.OutputTokens, q.InputTokens, q.Finish = 1000, 90, 60, 40, "length"
		}},
		{name: "control characters", answer: strings.Repeat("a\x00\x1b", 9), want: GarbageControl},
		{name: "bytes of no character", answer: strings.Repeat("ab\xff\xfe", 9), want: GarbageBroken},
		{name: "lost characters", answer: strings.Repeat("ab\ufffd", 9) + "c", want: GarbageBroken},
		{name: "private characters", answer: strings.Repeat("ab\ue000", 9) + "c", want: GarbageBroken},
		{name: "exclamation marks", answer: strings.Repeat("!", 40), want: GarbageRepetition},
		{name: "a loop of words", answer: prose + strings.Repeat("is the best of ", 20), want: GarbageRepetition},
		{name: "a short answer's loop", answer: " one two three" + strings.Repeat(" so", 26), want: GarbageRepetition},
		{name: "a long loop", answer: strings.Repeat(prose, 9), want: GarbageRepetition},
		{name: "nothing but a line", answer: strings.Repeat("-", 400), want: GarbageRepetition},
		{name: "a loop behind much text", answer: strings.Repeat(prose+"x", 7) + strings.Repeat("ha ", 2000),
			want: GarbageRepetition},
	} {
		p := Plan{Finishes: true}
		q := Request{Finish: "stop", OutputTokens: 20, OutputSource: TokensFromUsage, InputSource: TokensFromUsage}
		if c.change != nil {
			c.change(&p, &q)
		}
		g := p.Garbage(&q, []byte(c.answer), c.more)
		if g.Reason != c.want {
			t.Errorf("%s: %+v, want %q", c.name, g, c.want)
		}
		if (g.Detail != "") != (g.Reason != "") || len(g.Detail) > 3*garbageDetail {
			t.Errorf("%s: detail %q", c.name, g.Detail)
		}
	}
}

func FuzzGarbage(f *testing.F) {
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), true)
	f.Add([]byte("\xff\x00\ufffd日"), false)
	f.Fuzz(func(t *testing.T, answer []byte, more bool) {
		p, q := Plan{Finishes: true}, Request{Finish: "stop", OutputTokens: 9}
		g := p.Garbage(&q, answer, more)
		if g.Reason == GarbageRepetition && len(answer) < loopWhole || len(g.Detail) > 3*garbageDetail {
			t.Errorf("%q: %+v", answer, g)
		}
	})
}

func BenchmarkGarbage(b *testing.B) {
	p, q := Plan{}, Request{Finish: "stop", OutputTokens: 9}
	answer := []byte(strings.Repeat("word another thing ", 2000))
	for b.Loop() {
		p.Garbage(&q, answer, false)
	}
}
