package simulator

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"
)

func TestEveryPieceIsItsOwn(t *testing.T) {
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

// Ids of the largest vocabularies are taken, and their text counts as many tokens as they are.
func TestIDsOfLargeVocabularies(t *testing.T) {
	for _, size := range []int{151936, 201088, 262144, 1000000} {
		ids := []int{firstTriple, size - 1, 31999, size - 1, 32000}
		if id, ok := inVocabulary(ids); !ok {
			t.Errorf("a vocabulary of %d: id %d is refused", size, id)
		} else if got := encode(decode(ids)); !slices.Equal(got, ids) {
			t.Errorf("a vocabulary of %d: %v came back as %v", size, ids, got)
		}
	}
}

func TestTokenizerOnEnglish(t *testing.T) {
	const text = "The quick brown fox jumps over the lazy dog, and then it sleeps."
	n := len(encode(text))
	if perToken := float64(len(text)) / float64(n); perToken < 2 || perToken > 4 {
		t.Errorf("%d tokens for %d bytes, want about one for two to four", n, len(text))
	}
	if got := decode(encode(text)); got != text {
		t.Errorf("back comes %q", got)
	}
}

func TestProseIsItsTokens(t *testing.T) {
	p := prose{draws: rand.New(rand.NewPCG(1, 1))}
	var ids []int
	for range 1000 {
		ids = append(ids, p.next())
	}
	text := decode(ids)
	if !slices.Equal(encode(text), ids) {
		t.Error("encoding the text gives other tokens")
	}
	t.Log(text[:200])
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
