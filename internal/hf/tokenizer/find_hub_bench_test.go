package tokenizer

import (
	"strings"
	"testing"
)

// BenchmarkDownload fetches a tokenizer as large as Gemma's from a hub on this machine, and keeps it.
func BenchmarkDownload(b *testing.B) {
	large := `{"a":"` + strings.Repeat("x", 32<<20) + `"}`
	for b.Loop() {
		h := &stubHub{files: map[string]string{"tokenizer.json": large}}
		h.start(b)
		if _, err := find(b.Context(), FindOptions{Model: "org/name"}, h.options(b)); err != nil {
			b.Fatal(err)
		}
		h.Close()
	}
	b.SetBytes(int64(len(large)))
}
