package tokenizer

import (
	"math/rand/v2"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// BenchmarkSplit cuts prompts of some 6 kB, as the random data set makes them, with a pattern and the byte alphabet.
func BenchmarkSplit(b *testing.B) {
	texts := []struct{ name, text string }{{"prose", sentences(6000)}, {"mixed", mixture(6000)}}
	for _, g := range assert.Golden[stageGolden](b, "testdata/pretokenizers.jsonl.gz") {
		switch g.Name {
		case "gpt2", "qwen25", "v_o200k", "v_deepseek3":
		default:
			continue
		}
		s := mustSplitter(b, string(g.PreTokenizer))
		for _, c := range texts {
			b.Run(g.Name+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				b.ReportAllocs()
				pieces := 0
				for b.Loop() {
					out, err := s.split([]piece{{c.text, true}})
					assert.Fine(b, err)
					pieces = len(out)
				}
				b.ReportMetric(float64(pieces)*float64(b.N)/b.Elapsed().Seconds(), "pieces/s")
			})
		}
	}
}

func sentences(size int) string {
	return strings.Repeat("It isn't the fox that we'd seen; 12 dogs ran over the lazy river,\nand were gone. ",
		size/80+1)[:size]
}

// mixture strings words, scripts and signs together without sense, as random ids do.
func mixture(size int) string {
	parts := []string{" the", "ing", " Über", "中文", " слово", "42", "();\n", "\t\t", " كلمة", "한국", "'re", "_x", " 😀",
		"ção", "  ", "://"}
	random := rand.New(rand.NewPCG(1, 2))
	var out strings.Builder
	for out.Len() < size {
		out.WriteString(parts[random.IntN(len(parts))])
	}
	return out.String()
}
