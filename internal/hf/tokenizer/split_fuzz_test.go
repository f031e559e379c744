package tokenizer

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"benchtop/internal/assert"
)

// Matches come in order, within the text and at the borders of characters, whatever the pattern.
func FuzzPattern(f *testing.F) {
	for _, g := range assert.Golden[stageGolden](f, "testdata/stages.jsonl.gz") {
		var s struct{ Pattern struct{ Regex string } }
		if json.Unmarshal(g.PreTokenizer, &s) == nil && s.Pattern.Regex != "" {
			f.Add(s.Pattern.Regex, "it's 12 é\n\n b")
		}
	}
	f.Add(gpt2Pattern, "a\xff 中")
	f.Fuzz(func(t *testing.T, source, text string) {
		p, err := compilePattern(source)
		if err != nil {
			return
		}
		p.regex.MatchTimeout = 100 * time.Millisecond
		last := 0
		_ = p.each(text, func(start, end int) {
			if start < last || end < start || end > len(text) {
				t.Errorf("%q on %q: match %d-%d after %d", source, text, start, end, last)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[start:end]) {
				t.Errorf("%q on %q: match %d-%d cuts a character", source, text, start, end)
			}
			last = end
		})
	})
}

// No bytes make reading the map or using it panic, and valid text stays valid.
func FuzzCharsmap(f *testing.F) {
	f.Add(tinyCharsmap(), "banana")
	f.Add([]byte{4, 0, 0, 0, 0, 0xff, 0xff, 0xff}, "ab")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		m, err := newCharsmap(data)
		if err != nil {
			return
		}
		if got := m.normalize(text); utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

// tinyCharsmap makes A of a: the root, its child and the child's leaf, each in a block of 256 units.
func tinyCharsmap() []byte {
	units := make([]uint32, 3*256)
	const child, leaf = 256 ^ 'a', 512
	units[0] = 256 << 10
	units[child] = 'a' | 1<<8 | (child^leaf)<<10
	units[leaf] = 1 << 31
	data := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, unit := range units {
		data = binary.LittleEndian.AppendUint32(data, unit)
	}
	return append(data, "A\x00"...)
}

// A normalizer that can be read never panics.
func FuzzNormalizer(f *testing.F) {
	for _, g := range assert.Golden[stageGolden](f, "testdata/stages.jsonl.gz") {
		if g.Normalizer != nil && len(g.Normalizer) < 1000 {
			f.Add([]byte(g.Normalizer), "É a\u0301中 ﬁ\t")
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		if n, err := readNormalizer(raw, 0); err == nil && n != nil {
			_, _ = n(text)
		}
	})
}

// Pieces are never empty. Isolated pieces put together are the text; the byte alphabet spells every byte.
func FuzzSplit(f *testing.F) {
	for _, g := range assert.Golden[stageGolden](f, "testdata/pretokenizers.jsonl.gz") {
		f.Add([]byte(g.PreTokenizer), "it's 12 é\n\n b\u3000中")
	}
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		s, err := readSplitter(raw, 0)
		if err != nil || s == nil {
			return
		}
		pieces, err := s.split([]piece{{text, true}})
		if err != nil {
			return
		}
		if err := whole(s, pieces, text); err != nil {
			t.Errorf("%s on %q: %v", raw, text, err)
		}
	})
}

// whole checks what holds for the pieces of a text.
func whole(s splitter, pieces []piece, text string) error {
	var joined strings.Builder
	for i, p := range pieces {
		if p.text == "" {
			return errors.New("an empty piece")
		}
		if p.first && i > 0 {
			return errors.New("a later piece said to be first")
		}
		joined.WriteString(p.text)
	}
	switch s := s.(type) {
	case *finderSplitter:
		if s.behavior != removed && joined.String() != text {
			return errors.New("pieces that are not the text")
		}
	case *byteLevelSplitter:
		if !s.prefix && joined.String() != byteLevel(text) {
			return errors.New("letters that are not the bytes")
		}
	}
	return nil
}
