package tokenizer

import (
	"strings"
	"testing"
)

// BenchmarkDownload fetches a tokenizer as large as Gemma's from a hub on this machine, and keeps it.
func BenchmarkDownload(b *testing.B) {
	large := `{"a":"` + strings.Repeat("x", 32<<20) + `"}`
	for b.Loop() {
		h := serveModel(b, map[string]string{"tokenizer.json": large})
		if _, err := find(b.Context(), FindOptions{Model: "org/name"}, onHub(b, h)); err != nil {
			b.Fatal(err)
		}
		h.Close()
	}
	b.SetBytes(int64(len(large)))
}
