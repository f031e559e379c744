package calibration

import (
	"encoding/json"
	"math"
	"runtime/metrics"
	"slices"
	"time"

	"benchtop/internal/telemetry"
)

// Quantiles of N times, all 0 without any. As JSON they are in microseconds.
type Quantiles struct {
	N                   int
	P50, P99, P999, Max time.Duration
}

// QuantilesOf sorts the times.
func QuantilesOf(times []time.Duration) Quantiles {
	slices.Sort(times)
	return Quantiles{len(times), Quantile(times, 0.5), Quantile(times, 0.99), Quantile(times, 0.999),
		Quantile(times, 1)}
}

// Quantile is the smallest of sorted times that a share of them does not exceed; 0 of none.
func Quantile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// quantilesJSON is the JSON form of Quantiles.
type quantilesJSON struct {
	N    int     `json:"n"`
	P50  float64 `json:"p50_us"`
	P99  float64 `json:"p99_us"`
	P999 float64 `json:"p999_us"`
	Max  float64 `json:"max_us"`
}

// MarshalJSON writes microseconds.
func (q Quantiles) MarshalJSON() ([]byte, error) {
	return json.Marshal(quantilesJSON{q.N, inMicros(q.P50), inMicros(q.P99), inMicros(q.P999), inMicros(q.Max)})
}

// UnmarshalJSON reads microseconds.
func (q *Quantiles) UnmarshalJSON(b []byte) error {
	var j quantilesJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*q = Quantiles{j.N, fromMicros(j.P50), fromMicros(j.P99), fromMicros(j.P999), fromMicros(j.Max)}
	return nil
}

func inMicros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func fromMicros(us float64) time.Duration {
	return time.Duration(math.Round(us * float64(time.Microsecond)))
}

// spread computes a mean and a standard deviation in one pass, by Welford's method.
type spread struct {
	n    int
	mean float64
	m2   float64
}

func (s *spread) add(d time.Duration) {
	s.n++
	delta := float64(d) - s.mean
	s.mean += delta / float64(s.n)
	s.m2 += delta * (float64(d) - s.mean)
}

// average and deviation are 0 without values.
func (s *spread) average() time.Duration { return time.Duration(math.Round(s.mean)) }

func (s *spread) deviation() time.Duration {
	if s.n == 0 {
		return 0
	}
	return time.Duration(math.Round(math.Sqrt(s.m2 / float64(s.n))))
}

// The verdicts of a Result.
const (
	OK      = "ok"
	Limited = "limited"
)

// Result is the outcome of a load.
type Result struct {
	// Requests that ended, those of them that Failed, and Chunks with output in successful ones.
	Requests int `json:"requests"`
	Failed   int `json:"failed"`
	Chunks   int `json:"chunks"`
	// Seconds from the start to the end of the last request; the rates are over that time.
	Seconds           float64 `json:"seconds"`
	RequestsPerSecond float64 `json:"requests_per_s"`
	ChunksPerSecond   float64 `json:"chunks_per_s"`
	// MostStreams that were in flight at one time.
	MostStreams int `json:"most_streams"`
	// StampError is the client's time of a chunk less the server's just before its write, over all chunks of successful
	// requests. Early are chunks with a stamp more than EarlyFrom before their write, which is impossible: a sign that
	// a clock was set.
	StampError Quantiles `json:"stamp_error"`
	Early      int       `json:"early"`
	// Unmatched are successful requests that the server's log lacks, or has with another number of chunks.
	Unmatched int `json:"unmatched"`
	// Lateness as in metrics.Request.OwnLateness; Connect is the time to open a connection, of requests that opened
	// one.
	Lateness Quantiles `json:"lateness"`
	Connect  Quantiles `json:"connect"`
	// TTFTError is the mean of the client's TTFT less the server's own, from the end of the request to the first write.
	TTFTError time.Duration `json:"ttft_error_ns"`
	// ITLStd is the standard deviation of the gaps between chunks at the client, ServerITLStd of those at the server,
	// and ITLErrorStd of the differences between the two, gap by gap.
	ITLStd       time.Duration `json:"itl_std_ns"`
	ServerITLStd time.Duration `json:"server_itl_std_ns"`
	ITLErrorStd  time.Duration `json:"itl_error_std_ns"`
	// SharedShare and UnstampedShare of the chunks, see metrics.Stamps.
	SharedShare    float64 `json:"shared_share"`
	UnstampedShare float64 `json:"unstamped_share"`
	// CPUSeconds of the whole measurement, user and system. CPUPerChunkMicros and AllocsPerChunk, the number of heap
	// objects, are over the plateau: the time in which all of MostStreams were in flight, or else 95 % of them.
	// PlateauSeconds is its length; 0 if it was shorter than a second, and then they are over the whole measurement.
	// They include the cost of requests that begin in that time.
	CPUSeconds        float64 `json:"cpu_s"`
	CPUPerChunkMicros float64 `json:"cpu_per_chunk_us"`
	AllocsPerChunk    float64 `json:"allocs_per_chunk"`
	PlateauSeconds    float64 `json:"plateau_s"`
	// BytesPerStream is the greatest rise of resident memory, divided by MostStreams; 0 where the system does not
	// report it.
	BytesPerStream int64 `json:"bytes_per_stream"`
	// Verdict of the live view, OK or Limited, and why it is limited. Another client has none.
	Verdict string   `json:"verdict,omitempty"`
	Why     []string `json:"why,omitzero"`
}

// EarlyFrom is the tolerance for chunks that seem to come before their write: the clocks of two processes agree to
// about a microsecond, and times are rounded to one.
const EarlyFrom = 5 * time.Microsecond

// usage is the usage of the process up to a moment of the measurement.
type usage struct {
	at       time.Duration
	cpu      time.Duration // user and system
	objects  uint64        // allocated on the heap
	resident int64         // bytes
	open     int64         // streams
	chunks   int64
}

// meter reads the usage repeatedly. One goroutine at a time may use it.
type meter struct {
	start time.Time
	tally *Accumulator
	heap  []metrics.Sample
	used  []usage
}

func newMeter(start time.Time, t *Accumulator) *meter {
	return &meter{start: start, tally: t, heap: []metrics.Sample{
		{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"},
	}}
}

func (m *meter) read() {
	metrics.Read(m.heap)
	u := usage{
		at: time.Since(m.start), cpu: telemetry.ProcessCPU(), resident: telemetry.ResidentMemory(),
		open: m.tally.open.Load(), chunks: m.tally.chunks.Load(),
	}
	for _, s := range m.heap {
		if s.Value.Kind() == metrics.KindUint64 {
			u.objects += s.Value.Uint64()
		}
	}
	m.used = append(m.used, u)
}

// plateau is the usage in the longest time in which all of the most streams were open; if that is shorter than a
// second, 95 % of them. If there is no such time, it is the total.
func (m *meter) plateau(most int64) (used usage, found bool) {
	for _, percent := range []int64{100, 95} {
		if p := m.above(most * percent / 100); p.at >= time.Second {
			return p, true
		}
	}
	return difference(m.used), false
}

// above is the usage in the longest time in which so many streams were open.
func (m *meter) above(open int64) usage {
	var best usage
	from := 0
	for i, u := range m.used {
		if u.open < open {
			from = i + 1
			continue
		}
		if d := difference(m.used[from : i+1]); d.at > best.at {
			best = d
		}
	}
	return best
}

// difference is the usage from the first reading to the last, without peaks.
func difference(used []usage) usage {
	if len(used) == 0 {
		return usage{}
	}
	a, b := used[0], used[len(used)-1]
	return usage{at: b.at - a.at, cpu: b.cpu - a.cpu, objects: b.objects - a.objects, chunks: b.chunks - a.chunks}
}

// grown is the greatest rise of resident memory.
func (m *meter) grown(before int64) int64 {
	most := before
	for _, u := range m.used {
		most = max(most, u.resident)
	}
	return most - before
}

// during runs a client and reads the usage at its start, a few times a second, and at its end.
func (m *meter) during(run func() error) error {
	m.read()
	done := make(chan error, 1)
	go func() { done <- run() }()
	tick := time.NewTicker(time.Second / readings)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.read()
		case err := <-done:
			m.read()
			return err
		}
	}
}
