// Package watch looks at what goes on beside the load while a run is on: this client, the server's own counters, its
// prefix cache, the GPUs. A watcher only tells what it finds, and looks a last time when its context ends.
package watch

import "benchtop/metrics"

// Tell files a fact of the run at this moment.
type Tell func(fact any)

func (t Tell) log(level metrics.Level, text string) {
	t(metrics.LogEntry{Level: level, Text: text})
}

func (t Tell) mark(level metrics.Level, text, mark string) {
	t(metrics.LogEntry{Level: level, Text: text, Mark: mark})
}
