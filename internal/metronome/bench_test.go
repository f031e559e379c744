package metronome

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fastjson"
)

// BenchmarkPacedWrites is the CPU time of a server in another process for each chunk, requests and connections included.
// One operation is one chunk.
func BenchmarkPacedWrites(b *testing.B) {
	for _, load := range []struct { // 20,000 and 50,000 chunks a second
		streams int
		itl     time.Duration
	}{{1000, 50 * time.Millisecond}, {10_000, 200 * time.Millisecond}} {
		b.Run(fmt.Sprintf("streams=%d/itl=%s", load.streams, load.itl), func(b *testing.B) {
			base, end := startChild(b)
			chunks := max(b.N/load.streams, 1)
			begin := time.Now()
			var readers sync.WaitGroup
			for range load.streams {
				c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
				if err != nil {
					b.Fatal(err)
				}
				readers.Go(func() {
					defer c.Close()
					q := ask(path(time.Second, load.itl, "/v1/completions"), "", chunks)
					_, _ = io.WriteString(c, strings.Replace(q, "Host", "Connection: close\r\nHost", 1))
					var buffer [1 << 10]byte
					for {
						if _, err := c.Read(buffer[:]); err != nil {
							return
						}
					}
				})
			}
			readers.Wait()
			took := time.Since(begin)
			late, n := time.Duration(0), 0
			for _, e := range fetch(b, base) {
				for i, w := range e.Writes {
					late += w.Sub(e.Arrived) - time.Second - time.Duration(i)*load.itl
					n++
				}
			}
			cpu := end()
			b.ReportMetric(float64(n)/(took-time.Second).Seconds(), "writes/s")
			b.ReportMetric(float64(cpu.Microseconds())/float64(n), "cpu-µs/write")
			b.ReportMetric(float64(late.Microseconds())/float64(n), "µs-late")
		})
	}
}

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

// BenchmarkBody scans a prompt of a thousand token ids.
func BenchmarkBody(b *testing.B) {
	body := []byte(`{"model":"m","prompt":[` + strings.Repeat("12345,", 1000) + `1],"max_tokens":20}`)
	var p fastjson.Parser
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if n, err := chunksAsked(&p, body); n != 20 || err != nil {
			b.Fatal(n, err)
		}
	}
}
