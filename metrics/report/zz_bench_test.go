package report

import (
	"os"
	"testing"

	"benchtop/export/journal"
	"benchtop/metrics/event"
)

func BenchmarkFile(b *testing.B) {
	path := os.Getenv("JOURNAL")
	n := 0
	b.Run("read", func(b *testing.B) {
		for range b.N {
			n = 0
			for e := range journal.Read(path) {
				if e.Kind == event.Done {
					n += len(e.Request.Chunks)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/chunk")
	})
	b.Run("of", func(b *testing.B) {
		for range b.N {
			if _, err := Of(journal.Read(path)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/chunk")
	})
}
