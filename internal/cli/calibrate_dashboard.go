package cli

import (
	"context"
	"io"
	"sync/atomic"

	"benchtop/metrics"
	"benchtop/tui"
)

// drawUnseen draws the dashboard of a run as if somebody looked, until ctx ends, and returns how many bytes that were.
func drawUnseen(ctx context.Context, snapshots <-chan metrics.Snapshot) int64 {
	keys, nobody := io.Pipe() // no key is ever pressed
	defer nobody.Close()
	var screen byteCount
	// What it returns is that ctx ended; a dashboard that broke shows as one that drew next to nothing.
	_ = tui.Run(ctx, tui.Options{
		Snapshots: snapshots, Control: tui.NoControl{}, Input: keys, Output: &screen, Width: 120, Height: 40, Color: "256",
	})
	return screen.Load()
}

// byteCount is a terminal that only counts.
type byteCount struct{ atomic.Int64 }

func (c *byteCount) Write(b []byte) (int, error) {
	c.Add(int64(len(b)))
	return len(b), nil
}
