package main

import (
	"bytes"
	"testing"

	"benchtop/internal/assert"
)

func TestReplayed(t *testing.T) {
	s, err := replayed([]byte(`{"completed":8,"benchtop":{"client":{"why":["too much"],
		"lateness_ms":{"median":0.1,"p99":0.25,"max":3}}}}`), 10)
	assert.Fine(t, err)
	assert.Same(t, "p50", s.Figures["p50"], 100.0)
	assert.Same(t, "p99", s.Figures["p99"], 250.0)
	assert.Same(t, "most", s.Figures["max"], 3000.0)
	assert.Same(t, "remarks", s.Remarks, []remark{{"requests did not succeed", "2"},
		{"the verdict was limited", "limited (too much)"}})
}

// A round has its own trace, and the same one again.
func TestDrawTrace(t *testing.T) {
	const rows = 50
	one := drawTrace(rows, 1)
	assert.Same(t, "lines", bytes.Count(one, []byte("\n")), 1+rows)
	if !bytes.Equal(one, drawTrace(rows, 1)) || bytes.Equal(one, drawTrace(rows, 2)) {
		t.Errorf("not drawn by the round:\n%s", one)
	}
}
