package simulator

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"benchtop/internal/ci"
)

func TestEveryPieceIsItsOwn(t *testing.T) {
	ci.SkipUnderRace(t)
	seen := make(map[string]int, vocabulary)
	for id := range vocabulary {
		text := piece(id)
		if other, twice := seen[text]; twice {
			t.Fatalf("ids %d and %d are both %q", other, id, text)
		}
		seen[text] = id
		if got, n := longestPiece(text); got != id || n != len(text) {
			t.Fatalf("%q is id %d, encodes to %d", text, id, got)
		}
	}
}

// Ids of the largest vocabularies and those of an answer are taken, and their text counts as many tokens as they are.
func TestIDsAreTheirText(t *testing.T) {
	p := prose{draws: rand.New(rand.NewPCG(1, 1))}
	all := [][]int{nil}
	for range 1000 {
		all[0] = append(all[0], p.next())
	}
	for _, size := range []int{151936, 201088, 262144, 1000000} {
		all = append(all, []int{firstTriple, size - 1, 31999, size - 1, 32000})
	}
	for _, ids := range all {
		if id, ok := inVocabulary(ids); !ok {
			t.Errorf("id %d is refused", id)
		} else if got := encode(decode(ids)); !slices.Equal(got, ids) {
			t.Errorf("%v came back as %v", ids, got)
		}
	}
}

func TestTokenizerOnEnglish(t *testing.T) {
	const text = "The quick brown fox jumps over the lazy dog, and then it sleeps."
	ids := encode(text)
	if perToken := float64(len(text)) / float64(len(ids)); perToken < 2 || perToken > 4 || decode(ids) != text {
		t.Errorf("%d tokens for %d bytes, want one for two to four; back comes %q", len(ids), len(text), decode(ids))
	}
}

func FuzzTextRoundTrip(f *testing.F) {
	for _, s := range []string{"", " ", "a", " a", "hello world", "zxzzx zzz", "日本語 \x00\xff", "  two  blanks "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := encode(text)
		if id, ok := inVocabulary(ids); !ok {
			t.Fatalf("%q has the id %d", text, id)
		}
		if got := decode(ids); utf8.ValidString(text) && got != text {
			t.Fatalf("%q comes back as %q", text, got)
		}
	})
}

func FuzzIDsRoundTrip(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x12\x34\x00\xff\xff\x00\x03\x8a\x0f\xff\x02"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var any, triples []int
		for ; len(raw) >= 3; raw = raw[3:] {
			id := int(raw[0])<<16 | int(binary.BigEndian.Uint16(raw[1:]))
			any = append(any, id%vocabulary)
			triples = append(triples, firstTriple+id%(vocabulary-firstTriple))
		}
		if got := encode(decode(triples)); !slices.Equal(got, triples) {
			t.Fatalf("%v came back as %v", triples, got)
		}
		text := decode(any)
		if !utf8.ValidString(text) {
			t.Fatalf("%v is no UTF-8: %q", any, text)
		}
		if got := decode(encode(text)); got != text {
			t.Fatalf("%q comes back as %q", text, got)
		}
	})
}
