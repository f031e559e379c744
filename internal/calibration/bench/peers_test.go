package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/metronome"
)

// A result is compared request by request; what has no match is told.
func TestCompare(t *testing.T) {
	at := func(ms ...int) (all []time.Time) {
		for _, m := range ms {
			all = append(all, time.UnixMilli(int64(m)))
		}
		return all
	}
	log := []metronome.Entry{
		{ID: "peer-1", Arrived: time.UnixMilli(0), Writes: at(50, 60, 70)},
		{ID: "peer-0", Arrived: time.UnixMilli(0), Writes: at(50, 60)},
		{ID: "other", Arrived: time.UnixMilli(0), Writes: at(50)},
		{ID: "peer-2", Arrived: time.UnixMilli(0), Writes: at(50, 60)},
	}
	path := filepath.Join(t.TempDir(), "result.json")
	text := `{"ttfts":[0.051,0.053,0.05],"itls":[[0.013],[0.010,0.009],[]]}`
	assert.Fine(t, os.WriteFile(path, []byte(text), 0o600))
	s, err := peerLoad{}.compare(path, log)
	assert.Fine(t, err)
	assert.Same(t, "TTFT", s.Figures["ttft"], 2000.0)
	assert.Same(t, "gap", s.Figures["gap"], 1333.333)
	assert.Same(t, "remarks", len(s.Remarks), 1)
	assert.Same(t, "unmatched", s.Remarks[0].Example, "2")
}

// The tokenizer has a token for each byte.
func TestTokenizerOfBytes(t *testing.T) {
	place := t.TempDir()
	assert.Fine(t, writeTokenizer(place))
	text, err := os.ReadFile(filepath.Join(place, "tokenizer.json"))
	assert.Fine(t, err)
	var file struct {
		Model struct{ Vocab map[string]int }
	}
	assert.Fine(t, json.Unmarshal(text, &file))
	seen := map[int]bool{}
	for _, id := range file.Model.Vocab {
		seen[id] = true
	}
	assert.Same(t, "tokens", len(seen), 256)
	assert.Same(t, "a space", file.Model.Vocab["Ġ"], int(' '))
}
