package datasets

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// ids are n token ids from one on.
func ids(from, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = from + i
	}
	return out
}

func TestSharing(t *testing.T) {
	prompt := func(turns ...Turn) Conversation { return Conversation{Turns: turns} }
	text := func(n int) string { // no two blocks alike
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "%d ", i)
		}
		return b.String()[:n]
	}
	for _, c := range []struct {
		name string
		add  func(s *Sharing)
		want float64
	}{
		{"nothing", func(*Sharing) {}, 0},
		{"all distinct", func(s *Sharing) {
			for i := range 100 {
				s.Add(prompt(Turn{TokenIDs: ids(i*1000, 500)}))
			}
		}, 0},
		{"random with a prefix: prefix / (prefix + input), but for the first", func(s *Sharing) {
			for i := range 100 {
				s.Add(prompt(Turn{TokenIDs: append(ids(0, 256), ids((i+1)*1000, 768)...)}))
			}
		}, 99.0 / 100 * 256 / 1024},
		{"prefix_repetition: all but the first of each prefix", func(s *Sharing) {
			for i := range 100 {
				s.Add(prompt(Turn{TokenIDs: append(ids(i%10*1000, 128), ids((i+10)*1000, 128)...)}))
			}
		}, 90.0 / 100 * 128 / 256},
		{"repeated prompts: all but the last block", func(s *Sharing) {
			for range 4 {
				s.Add(prompt(Turn{TokenIDs: ids(0, 160)}))
			}
		}, 3.0 / 4 * 144 / 160},
		{"whole blocks count alone", func(s *Sharing) {
			s.Add(prompt(Turn{TokenIDs: ids(0, 15)}))
			s.Add(prompt(Turn{TokenIDs: ids(0, 15)}))
			s.Add(prompt(Turn{TokenIDs: ids(0, 31)}))
			s.Add(prompt(Turn{TokenIDs: ids(0, 31)}))
		}, 16.0 / (15 + 15 + 31 + 31)},
		{"the same block behind another is another", func(s *Sharing) {
			s.Add(prompt(Turn{TokenIDs: append(ids(0, 16), ids(100, 16)...)}))
			s.Add(prompt(Turn{TokenIDs: append(ids(50, 16), ids(100, 16)...)}))
		}, 0},
		{"texts, scaled to their tokens", func(s *Sharing) {
			s.Add(prompt(Turn{Text: text(640), InputTokens: 200}))
			s.Add(prompt(Turn{Text: text(640) + strings.Repeat("x", 640), InputTokens: 400}))
		}, 200.0 / 600},
		{"texts that nobody counted", func(s *Sharing) {
			s.Add(prompt(Turn{Text: text(1280)}))
			s.Add(prompt(Turn{Text: text(640) + strings.Repeat("x", 640)}))
		}, 0.25},
		{"turns that repeat the turns before", func(s *Sharing) {
			s.Add(prompt(Turn{Text: text(640), InputTokens: 100}, Turn{Text: text(1280), InputTokens: 200}))
		}, 100.0 / 300},
		{"messages", func(s *Sharing) {
			for range 2 {
				s.Add(prompt(Turn{Messages: json.RawMessage(text(641)), InputTokens: 641}))
			}
		}, 640.0 / 1282},
		{"several prompts in a request", func(s *Sharing) {
			s.Add(prompt(Turn{Batch: []Turn{{TokenIDs: ids(0, 32)}, {TokenIDs: append(ids(0, 16), ids(99, 16)...)}},
				InputTokens: 64}))
		}, 16.0 / 64},
		{"empty prompts", func(s *Sharing) {
			s.Add(prompt(Turn{}, Turn{TokenIDs: []int{}}, Turn{Text: "a", InputTokens: 1}))
		}, 0},
	} {
		s := NewSharing()
		c.add(s)
		if got := s.ShareBehind(0); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func BenchmarkSharing(b *testing.B) {
	s := NewSharing()
	text := strings.Repeat("A prompt of some length. ", 200)
	b.SetBytes(int64(len(text)))
	for i := 0; b.Loop(); i++ {
		s.Add(Conversation{Turns: []Turn{{Text: fmt.Sprint(i, text), InputTokens: 1000}}})
	}
}

// prefixesOf adds prompts whose units are letters.
func prefixesOf(p *Prefixes, block int, prompts ...string) (all []PrefixMatch) {
	for _, prompt := range prompts {
		all = append(all,
			p.Add(7, len(prompt), block, func(h uint64, i int) uint64 { return NextName(h, uint64(prompt[i])) }))
	}
	return all
}

func TestPrefixes(t *testing.T) {
	var names []uint64
	got := prefixesOf(NewPrefixes(1000), 2, "abcd", "abxy", "abcdef", "bbcd", "abxyz", "abcd", "")
	for i, want := range []PrefixMatch{{}, {Units: 2, Again: 2}, {Units: 4, Again: 2}, {}, {Units: 4, Again: 2},
		{Units: 4}, {}} {
		names = append(names, got[i].Name)
		name := got[i].Name != 0
		if got[i].Name = 0; got[i] != want || name != (i == 1 || i == 2 || i == 4 || i == 5) {
			t.Errorf("prompt %d: %+v with a name %t, want %+v", i, got[i], name, want)
		}
	}
	if names[2] == names[1] || names[5] != names[1] {
		t.Errorf("names of abcd, ab and ab are %x, %x, %x", names[2], names[1], names[5])
	}
}

// In little memory a prefix that was found again stays known in full, others to the next multiple of the stride.
func TestPrefixesInLittleMemory(t *testing.T) {
	p := NewPrefixes(100)
	prompt := func(i int) string { return strings.Repeat("p", 13) + string(rune('A'+i)) + strings.Repeat("s", 18) }
	prefixesOf(p, 1, prompt(0), prompt(1))
	for i := range 50 {
		if m := prefixesOf(p, 1, prompt(2+i))[0]; m.Units != 13 || len(p.seen) > 100 {
			t.Fatalf("prompt %d: %d units with %d names", i, m.Units, len(p.seen))
		}
	}
	if m := prefixesOf(p, 1, prompt(51))[0]; p.Stride() < 2 || m.Units%p.Stride() != 0 && m.Units != 13 {
		t.Errorf("%d units with a stride of %d", m.Units, p.Stride())
	}
	for i := range 1000 { // nothing but prefixes that were found again
		prefixesOf(p, 1, fmt.Sprintf("%04d", i), fmt.Sprintf("%04d", i))
		if len(p.seen) > 100 || p.Stride() > 1<<12 {
			t.Fatalf("%d names with a stride of %d", len(p.seen), p.Stride())
		}
	}
}
