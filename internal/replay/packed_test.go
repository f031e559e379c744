package replay

import (
	"math"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

func TestPacked(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name   string
		chunks []metrics.Chunk
		most   int // bytes
	}{
		{"none", nil, 0},
		{"usual ones", []metrics.Chunk{{At: 50 * ms, Tokens: 1, Answer: true}, {At: 70 * ms, Tokens: 1, Answer: true},
			{At: 90 * ms, Tokens: 1, Answer: true}}, 11},
		{"at once, without output, many tokens",
			[]metrics.Chunk{{At: 0}, {At: 0, Tokens: 5, Answer: true}, {At: 0, Tokens: 1}}, 9},
		{"nanoseconds", []metrics.Chunk{{At: 1}, {At: 3001}}, 11},
		{"not in order", []metrics.Chunk{{At: time.Hour, Tokens: 1, Answer: true}, {At: -5 * ms, Tokens: -7}}, 16},
		{"the ends", []metrics.Chunk{{At: furthest, Tokens: math.MaxInt32}, {At: -furthest, Tokens: math.MinInt32},
			{At: furthest}}, 60},
	} {
		p := pack(tt.chunks)
		assert.EqualAll(t, p.unpack(), tt.chunks, "%s: came back as", tt.name)
		if len(p) > tt.most {
			t.Errorf("%s: %d bytes, want at most %d", tt.name, len(p), tt.most)
		}
	}
	if got := pack([]metrics.Chunk{{At: math.MaxInt64}, {At: math.MinInt64}}).unpack(); got[0].At < time.Hour ||
		got[1].At > -time.Hour {
		t.Errorf("beyond the ends: %v", got)
	}
}
