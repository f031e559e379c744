package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// forgetful encodes with a memory of nothing.
func forgetful(t testing.TB, l *Local, text string) []int {
	t.Helper()
	ids := assert.Must(l.encodeIn(new(scratch), nil, text))(t)
	return ids
}

// afterwards encodes one text after another with one memory, and checks the second.
func afterwards(t testing.TB, l *Local, first, second string) {
	t.Helper()
	var s scratch
	_, _ = l.encodeIn(&s, nil, first)
	got := assert.Must(l.encodeIn(&s, nil, second))(t)
	if want := forgetful(t, l, second); !slices.Equal(got, want) {
		t.Errorf("%.200q after %.200q: got %d ids %.300v, want %d ids %.300v", second, first, len(got), got, len(want),
			want)
	}
}

var lastTextTokenizers = []string{"gpt2", "qwen2.5", "bert-base-uncased", "synthetic-spbpe", "synthetic-gemma-style",
	"synthetic-metaspace-first"}

// A text is encoded as if there had been none before it: cut between tokens and elsewhere, gone on with, changed.
func TestEncodeAfterAnotherText(t *testing.T) {
	ci.SkipUnderRace(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range lastTextTokenizers {
		t.Run(name, func(t *testing.T) {
			l := readGolden(t, "testdata", goldenFile{File: name + ".tokenizer.json.gz"})
			for _, text := range []string{
				"",
				strings.Repeat("The cat's mat, 1234 things\n\n  thought-of   ", 6),
				strings.Repeat("北京时间今天上午工作会议在人民大会堂举行", 12),
				strings.Repeat("ไม่สามารถบริษัทสำนักงาน", 12),
				strings.Repeat("ab", 200) + " <|endoftext|> " + strings.Repeat("é\u0301", 40),
			} {
				ids := forgetful(t, l, text)
				for range 15 {
					cut := assert.Must(l.Decode(ids[:random.IntN(len(ids)+1)]))(t)
					at := random.IntN(len(text) + 1)
					afterwards(t, l, text, cut)
					afterwards(t, l, cut, text)
					afterwards(t, l, text, text[:at])
					afterwards(t, l, text, text[:at]+"x"+text[at:])
				}
			}
		})
	}
}

// Of a word that was cut between two tokens the ids are known.
func TestBegins(t *testing.T) {
	ci.SkipUnderRace(t)
	l := readGolden(t, "testdata", goldenFile{File: "qwen2.5.tokenizer.json.gz"})
	word := byteLevel(strings.Repeat("人民大会堂举行", 9))
	var s scratch
	ids := assert.Must(l.bpe.encode(nil, word, &s))(t)
	small := make([]int32, len(ids))
	for i, id := range ids {
		small[i] = int32(id)
	}
	end := 0
	for i, id := range small {
		end += len(l.vocab.texts[id])
		assert.EqualAll(t, l.bpe.begins(word[:end], small), small[:i+1], "up to byte %d", end)
		if got := l.bpe.begins(word[:end-1], small); got != nil && len(l.vocab.texts[id]) > 1 {
			t.Errorf("up to byte %d, within a token: got %v, want none", end-1, got)
		}
	}
}

// A long text is not remembered, nor what was remembered before it.
func TestLastTextForgets(t *testing.T) {
	var l lastText
	l.begin(3)
	l.put("abc", []int{7, 8})
	l.begin(rememberedText + 1)
	if piece, ids := l.next(); piece != "" || ids != nil {
		t.Errorf("a long text is told of %q %v", piece, ids)
	}
	l.put("def", []int{9})
	l.begin(3)
	if piece, ids := l.next(); piece != "" || ids != nil {
		t.Errorf("of a long text %q %v is known", piece, ids)
	}
}

func FuzzEncodeAfterAnotherText(f *testing.F) {
	f.Add("the cat sat", "the cat")
	f.Add("人民大会堂举行", "人民大会")
	f.Add("a <|endoftext|> b\n\n", "a <|endoftext|> b")
	var all []*Local
	for _, name := range lastTextTokenizers {
		all = append(all, readGolden(f, "testdata", goldenFile{File: name + ".tokenizer.json.gz"}))
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		for _, l := range all {
			afterwards(t, l, first, second)
			ids := forgetful(t, l, first)
			if cut, err := l.Decode(ids[:len(ids)/2]); err == nil {
				afterwards(t, l, first, cut)
			}
		}
	})
}
