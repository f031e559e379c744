package telemetry

import (
	"fmt"
	"slices"
	"time"

	"benchtop/metrics"
)

// gpuTick gathers the lines of one look. Tools print a line for each accelerator, in order, and no line end between two
// looks:
//
//	0 1 2 3 . . . . . 0 1 2 3 . . . . . 0
//	       |wait|     ^ an index that does not grow begins a new look, if the wait did not
type gpuTick struct {
	gpus []metrics.GPU
	at   time.Duration // when the first came
	most int           // lines of the longest look so far

	looked bool // there was a look before
	before time.Duration
}

// ends reports whether an accelerator with this index belongs to the next look.
func (t *gpuTick) ends(index int) bool {
	n := len(t.gpus)
	return n > 0 && index <= t.gpus[n-1].Index
}

func (t *gpuTick) add(gpu metrics.GPU, now time.Duration) {
	if len(t.gpus) == 0 {
		t.at = now
	}
	t.gpus = append(t.gpus, gpu)
}

// whole says that as many lines came as in the longest look so far.
func (t *gpuTick) whole() bool { return len(t.gpus) >= t.most }

// wait is how long after a line the look is taken to be over. A driver may take its time with one accelerator, so where
// lines are missing the next look is waited for.
func (t *gpuTick) wait(every time.Duration) time.Duration {
	if t.whole() {
		return every / 2
	}
	return every + every/2
}

// take returns the look, with only some of the accelerators unless only is nil, and begins a new one. The error says that
// there are none of those.
func (t *gpuTick) take(only []int) (metrics.GPUSecond, error) {
	s := metrics.GPUSecond{At: t.at, GPUs: t.gpus}
	if t.looked {
		s.Took = t.at - t.before
	}
	first, last := t.gpus[0].Index, t.gpus[len(t.gpus)-1].Index
	t.most, t.looked, t.before, t.gpus = max(t.most, len(t.gpus)), true, t.at, nil
	if only == nil {
		return s, nil
	}
	s.GPUs = slices.DeleteFunc(s.GPUs, func(g metrics.GPU) bool { return !slices.Contains(only, g.Index) })
	if len(s.GPUs) == 0 {
		return s, fmt.Errorf("shows none of the GPUs %v, only %d to %d", only, first, last)
	}
	return s, nil
}
