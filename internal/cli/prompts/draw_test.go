package prompts

import (
	"strings"
	"testing"

	"benchtop/datasets"
)

// lengthy is a source whose prompts did not come out as long as wanted.
type lengthy struct {
	datasets.Source
	miss int
}

func (l lengthy) Miss() int { return l.miss }

func TestOffLength(t *testing.T) {
	for miss, want := range map[int]string{0: "", 3: "+3 tokens", -2: "-2 tokens"} {
		if got := OffLength(lengthy{miss: miss}); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%d: %q", miss, got)
		}
	}
	if got := OffLength(&datasets.List{}); got != "" {
		t.Errorf("a source that does not know: %q", got)
	}
}
