package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"benchtop/internal/assert"
)

func TestEachReturnsTheFirstFailure(t *testing.T) {
	for _, workers := range []int{1, 3, 64} {
		var done atomic.Int64
		err := Each(t.Context(), workers, 100, func(i int) error {
			done.Add(1)
			if i%7 == 6 {
				return errors.New(string(rune('0' + i)))
			}
			return nil
		})
		if err == nil || err.Error() != "6" {
			t.Errorf("%d workers: got %v, want the failure of 6", workers, err)
		}
		if n := int(done.Load()); n < 7 || n > 7+workers {
			t.Errorf("%d workers: %d calls", workers, n)
		}
	}
}

func TestEachCallsForAll(t *testing.T) {
	seen := make([]atomic.Bool, 50)
	assert.Fine(t, Each(t.Context(), 4, len(seen), func(i int) error { seen[i].Store(true); return nil }))
	for i := range seen {
		if !seen[i].Load() {
			t.Errorf("no call for %d", i)
		}
	}
	assert.Fine(t, Each(t.Context(), 4, 0, func(int) error { return errors.New("called for nothing") }))
}

func TestEachEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Each(ctx, 2, 1000, func(i int) error {
		if i == 3 {
			cancel()
			return errors.New("after the end")
		}
		if i > 10 {
			t.Errorf("call for %d", i)
		}
		return nil
	})
	assert.Is(t, err, context.Canceled)
}
