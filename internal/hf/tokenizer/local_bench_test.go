package tokenizer

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

var benchmarked = []string{"gpt2", "qwen2.5"}

func benchmarkTokenizer(b *testing.B, name string) *Local {
	b.Helper()
	return readGolden(b, "testdata", goldenFile{File: name + ".tokenizer.json.gz"})
}

// prose is the golden texts of a tokenizer but the random ones, and a document of ours: words that come again.
func prose(b *testing.B, name string) []string {
	b.Helper()
	var texts []string
	for _, c := range assert.Golden[goldenCase](b, filepath.Join("testdata", name+".jsonl.gz")) {
		if c.Kind != "random" && len(c.Text) < 2000 {
			texts = append(texts, c.Text)
		}
	}
	return append(texts, string(assert.File(b, filepath.Join("..", "..", "..", "docs", "metrics.md"))))
}

// randomTexts are of random ids, 1,024 tokens each: hardly a word comes again.
func randomTexts(b *testing.B, l *Local, count int) (texts []string, ids [][]int) {
	b.Helper()
	draw := rand.New(rand.NewPCG(1, 2))
	for range count {
		some := make([]int, 1024)
		for i := range some {
			some[i] = draw.IntN(l.VocabSize())
		}
		text, err := l.Decode(some)
		assert.Fine(b, err)
		texts, ids = append(texts, text), append(ids, some)
	}
	return texts, ids
}

// throughput calls for one text or more after another, and reports their tokens a second.
func throughput(b *testing.B, name string, run func(i int) (tokens int, err error)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		tokens := 0
		for i := 0; b.Loop(); i++ {
			n, err := run(i)
			assert.Fine(b, err)
			tokens += n
		}
		b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
	})
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range benchmarked {
		l := benchmarkTokenizer(b, name)
		random, _ := randomTexts(b, l, 512)
		for kind, texts := range map[string][]string{"prose": prose(b, name), "random": random} {
			throughput(b, name+"/"+kind, func(i int) (int, error) {
				ids, err := l.Encode(texts[i%len(texts)])
				return len(ids), err
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range benchmarked {
		l := benchmarkTokenizer(b, name)
		_, random := randomTexts(b, l, 512)
		var words [][]int
		for _, text := range prose(b, name) {
			ids, err := l.Encode(text)
			assert.Fine(b, err)
			words = append(words, ids)
		}
		for kind, all := range map[string][][]int{"prose": words, "random": random} {
			throughput(b, name+"/"+kind, func(i int) (int, error) {
				ids := all[i%len(all)]
				_, err := l.Decode(ids)
				return len(ids), err
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, name := range benchmarked {
		file := assert.File(b, filepath.Join("testdata", name+".tokenizer.json.gz"))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(Files{Tokenizer: file}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEncodeAgain encodes a text, cuts it, decodes and encodes that: how a prompt gets its length.
func BenchmarkEncodeAgain(b *testing.B) {
	for _, name := range benchmarked {
		l := benchmarkTokenizer(b, name)
		random, _ := randomTexts(b, l, 512)
		throughput(b, name, func(i int) (tokens int, err error) {
			text := random[i%len(random)]
			for range 2 {
				ids, err := l.Encode(text)
				if err != nil {
					return 0, err
				}
				tokens += len(ids)
				if text, err = l.Decode(ids[:min(len(ids), 1024)]); err != nil {
					return 0, err
				}
			}
			return tokens, nil
		})
	}
}

// BenchmarkEncodeLongWord is for tokenizers without a pre-tokenizer, to which a text is one word.
func BenchmarkEncodeLongWord(b *testing.B) {
	l := benchmarkTokenizer(b, "synthetic-spbpe")
	texts := [2]string{ // in turn, since what the last text became is remembered
		strings.Repeat("the cat sat on the mat and thought of other things ", 2000),
		strings.Repeat("other things thought of the cat and sat on the mat ", 2000),
	}
	b.SetBytes(int64(len(texts[0])))
	for i := 0; b.Loop(); i++ {
		if _, err := l.Encode(texts[i%2]); err != nil {
			b.Fatal(err)
		}
	}
}

// Models of speech have tens of thousands of added tokens, one for each sound: each of many must not take longer than
// each of few.
func BenchmarkReadAddedTokens(b *testing.B) {
	for _, n := range []int{1000, 64000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var list []string
			for i := range n {
				list = append(list,
					fmt.Sprintf(`{"id":%d,"content":"<|sound_%06d|>","normalized":%t}`, i+2, i, i%2 == 0))
			}
			parts := `"added_tokens":[` + strings.Join(list, ",") + `]`
			for b.Loop() {
				if _, err := reading(parts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/token")
		})
	}
}
