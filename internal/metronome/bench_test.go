package metronome

import (
	"fmt"
	"testing"
)

// BenchmarkLog takes a log of 10,000 answers of 300 chunks over a connection.
func BenchmarkLog(b *testing.B) {
	s, base := start(b)
	for b.Loop() {
		b.StopTimer()
		for i := range 10_000 {
			a := answer{ID: fmt.Sprint("request-", i), Arrived: s.clock.now()}
			for k := range 300 {
				a.Writes = append(a.Writes, a.Arrived+int64(k)*10_000_000)
			}
			s.log.add(a)
		}
		b.StartTimer()
		if log := fetch(b, base); len(log) != 10_000 || len(log[9999].Writes) != 300 {
			b.Fatalf("%d answers", len(log))
		}
	}
}
