package journal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"benchtop/metrics"
)

// appendClient appends a second of the client. Lengths are nanoseconds, because the second was judged by them
// as they are; what is 0 is left out, and so is a delay that nobody knows. A figure that cannot be, such as a load that is
// no number, is left out as well: it must not cost the rest of the line.
func appendClient(b []byte, s *metrics.ClientSecond) []byte {
	b = appendLength(b, "at_ns", s.At)
	b = appendLength(b, "took_ns", s.Took)
	b = appendNumber(b, "cpu", s.CPU)
	b = appendNumber(b, "cpu_wait", s.CPUWait)
	b = appendNumber(b, "cores", s.Cores)
	b = appendLength(b, "sched_ns", s.Sched)
	b = appendLength(b, "stall_ns", s.Stall)
	b = appendNatural(b, "gcs", s.GCs)
	b = appendLength(b, "gc_pause_ns", s.GCPause)
	b = appendNatural(b, "memory_bytes", int(min(s.Memory, largestCount)))
	b = appendNatural(b, "sockets", s.Sockets)
	b = appendNatural(b, "dialled", s.Dialled)
	b = appendNatural(b, "redials", s.Redials)
	b = appendTruth(b, "clock_step", s.ClockStep)
	b = appendNatural(b, "sent", s.Sent)
	b = appendLength(b, "late_p99_ns", s.LateP99)
	b = appendLength(b, "late_max_ns", s.LateMax)
	b = appendNatural(b, "chunks", s.Chunks)
	b = appendNatural(b, "shared", s.Shared)
	b = appendNatural(b, "unstamped", s.Unstamped)
	b = appendDelay(b, "delay_p50_ns", s.DelayP50)
	b = appendDelay(b, "delay_p99_ns", s.DelayP99)
	b = appendDelay(b, "delay_max_ns", s.DelayMax)
	return b
}

// client reads what appendClient wrote.
func (f *fields) client() metrics.ClientSecond {
	return metrics.ClientSecond{
		At: f.length("at_ns"), Took: f.length("took_ns"),
		CPU: f.number("cpu"), CPUWait: f.number("cpu_wait"), Cores: f.number("cores"),
		Sched: f.length("sched_ns"), Stall: f.length("stall_ns"),
		GCs: f.natural("gcs"), GCPause: f.length("gc_pause_ns"), Memory: uint64(f.natural("memory_bytes")),
		Sockets: f.natural("sockets"), Dialled: f.natural("dialled"), Redials: f.natural("redials"), ClockStep: f.truth("clock_step"),
		Sent: f.natural("sent"), LateP99: f.length("late_p99_ns"), LateMax: f.length("late_max_ns"),
		Chunks: f.natural("chunks"), Shared: f.natural("shared"), Unstamped: f.natural("unstamped"),
		DelayP50: f.delay("delay_p50_ns"), DelayP99: f.delay("delay_p99_ns"), DelayMax: f.delay("delay_max_ns"),
	}
}

// appendStamps appends an object with the stamps of a run.
func appendStamps(b []byte, s *metrics.Stamps) []byte {
	b = append(b, '{')
	b = appendNatural(b, "chunks", s.Chunks)
	b = appendNatural(b, "shared", s.Shared)
	b = appendNatural(b, "unstamped", s.Unstamped)
	b = appendDelay(b, "delay_p50_ns", s.DelayP50)
	b = appendDelay(b, "delay_p99_ns", s.DelayP99)
	b = appendDelay(b, "delay_p999_ns", s.DelayP999)
	b = appendDelay(b, "delay_max_ns", s.DelayMax)
	return append(b, '}')
}

// stamps reads what appendStamps wrote.
func (f *fields) stamps() metrics.Stamps {
	return metrics.Stamps{
		Chunks: f.natural("chunks"), Shared: f.natural("shared"), Unstamped: f.natural("unstamped"),
		DelayP50: f.delay("delay_p50_ns"), DelayP99: f.delay("delay_p99_ns"),
		DelayP999: f.delay("delay_p999_ns"), DelayMax: f.delay("delay_max_ns"),
	}
}

// appendTruth leaves out what is not so.
func appendTruth(b []byte, key string, v bool) []byte {
	if !v {
		return b
	}
	return append(appendKey(b, key), "true"...)
}

func appendNatural(b []byte, key string, n int) []byte { return appendCount(b, key, max(0, n)) }

func appendLength(b []byte, key string, d time.Duration) []byte {
	if d <= 0 {
		return b
	}
	return appendDelay(b, key, d)
}

// appendDelay leaves out a delay that is not known; 0 is one.
func appendDelay(b []byte, key string, d time.Duration) []byte {
	if d < 0 {
		return b
	}
	return strconv.AppendInt(appendKey(b, key), int64(min(d, longestRun)), 10)
}

func appendNumber(b []byte, key string, v float64) []byte {
	if !(v > 0) || math.IsInf(v, 1) { // NaN is not above 0
		return b
	}
	return strconv.AppendFloat(appendKey(b, key), min(v, largestCount), 'g', -1, 64)
}

func (f *fields) natural(key string) int {
	n := f.count(key)
	if n < 0 {
		f.fail(key, "a number of things")
		return 0
	}
	return n
}

func (f *fields) length(key string) time.Duration { return max(0, f.delay(key)) }

// delay is Never where the key is not there.
func (f *fields) delay(key string) time.Duration {
	v := f.o.Get(key)
	if v == nil {
		return metrics.Never
	}
	ns, err := v.Int64()
	if err != nil || ns < 0 || ns > int64(longestRun) {
		f.fail(key, fmt.Sprintf("whole nanoseconds, at most %d days", longestRun/(24*time.Hour)))
		return 0
	}
	return time.Duration(ns)
}

func (f *fields) number(key string) float64 {
	v := f.o.Get(key)
	if v == nil {
		return 0
	}
	// The parser's own way with fractions is off by a bit now and then.
	n, err := strconv.ParseFloat(string(v.MarshalTo(nil)), 64)
	if err != nil || !(n >= 0 && n <= largestCount) {
		f.fail(key, "a number from 0 to 2^53")
		return 0
	}
	return n
}

func (f *fields) truth(key string) bool {
	v := f.o.Get(key)
	if v == nil {
		return false
	}
	if t := v.Type(); t != fastjson.TypeTrue && t != fastjson.TypeFalse {
		f.fail(key, "true or false")
	}
	return v.Type() == fastjson.TypeTrue
}

// serverFigures are the figures of a look at the server and their keys.
func serverFigures(s *metrics.ServerSecond) []figure {
	return []figure{
		{"running", &s.Running}, {"waiting", &s.Waiting}, {"kv_usage", &s.KVUsage}, {"preemptions", &s.Preemptions},
		{"prefix_queries", &s.PrefixQueries}, {"prefix_hits", &s.PrefixHits}, {"prefix_hit_rate", &s.HitRate},
		{"prompt_tokens", &s.PromptTokens}, {"output_tokens", &s.OutputTokens},
		{"draft_tokens", &s.DraftTokens}, {"accepted_tokens", &s.AcceptedTokens},
	}
}

// serverAtEnd says which figures a server moves when a request ends.
func serverAtEnd(s *metrics.ServerSecond) []claim {
	return []claim{{"waits_at_end", &s.WaitsAtEnd}, {"prompt_at_end", &s.PromptAtEnd}, {"output_at_end", &s.OutputAtEnd}}
}

type claim struct {
	key   string
	value *bool
}

// figure is a number that may be unsaid.
type figure struct {
	key   string
	value *float64
}

// appendServer appends a look at the server. A figure that is unsaid, or cannot be, is left out; 0 is said.
func appendServer(b []byte, s *metrics.ServerSecond) []byte {
	b = appendLength(b, "at_ns", s.At)
	b = appendLength(b, "took_ns", s.Took)
	for _, f := range serverFigures(s) {
		b = appendFigure(b, f.key, *f.value)
	}
	b = appendLatency(b, "ttft", s.TTFT)
	b = appendLatency(b, "queue", s.Queue)
	b = appendLatency(b, "prefill", s.Prefill)
	for _, f := range serverAtEnd(s) {
		if *f.value {
			b = append(appendKey(b, f.key), "true"...)
		}
	}
	return b
}

// server reads what appendServer wrote.
func (f *fields) server() metrics.ServerSecond {
	s := metrics.ServerSecond{
		At: f.length("at_ns"), Took: f.length("took_ns"),
		TTFT: f.latency("ttft"), Queue: f.latency("queue"), Prefill: f.latency("prefill"),
	}
	for _, x := range serverFigures(&s) {
		*x.value = f.figure(x.key)
	}
	for _, x := range serverAtEnd(&s) {
		*x.value = f.truth(x.key)
	}
	return s
}

// appendLatency leaves out the mean of none.
func appendLatency(b []byte, key string, l metrics.ServerLatency) []byte {
	if !(l.N > 0) || math.IsInf(l.N, 1) || l.Mean < 0 {
		return b
	}
	b = append(appendKey(b, key), '{')
	b = appendNumber(b, "n", l.N)
	return append(appendDelay(b, "mean_ns", l.Mean), '}')
}

func (f *fields) latency(key string) metrics.ServerLatency {
	inner := f.optional(key)
	if inner == nil {
		return metrics.ServerLatency{}
	}
	l := metrics.ServerLatency{N: inner.number("n"), Mean: inner.length("mean_ns")}
	f.inherit(inner)
	return l
}

// appendFigure leaves out what is unsaid. Temperatures may be below 0.
func appendFigure(b []byte, key string, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return b
	}
	return strconv.AppendFloat(appendKey(b, key), max(-largestCount, min(v, largestCount)), 'g', -1, 64)
}

// figure is Unsaid where the key is not there.
func (f *fields) figure(key string) float64 {
	v := f.o.Get(key)
	if v == nil {
		return metrics.Unsaid()
	}
	n, err := strconv.ParseFloat(string(v.MarshalTo(nil)), 64)
	if err != nil || !(n >= -largestCount && n <= largestCount) {
		f.fail(key, "a number between -2^53 and 2^53")
		return metrics.Unsaid()
	}
	return n
}

// mostGPUs bounds the accelerators of one look.
const mostGPUs = 1024

// longestName of an accelerator in bytes.
const longestName = 256

// gpuFigures are those of one accelerator.
func gpuFigures(g *metrics.GPU) []figure {
	return []figure{
		{"use", &g.Use}, {"memory_bytes", &g.MemoryUsed}, {"memory_total_bytes", &g.MemoryTotal}, {"power_w", &g.Power},
		{"power_limit_w", &g.PowerLimit}, {"temperature_c", &g.Temperature}, {"clock_mhz", &g.Clock},
	}
}

// appendGPUs appends a look at all accelerators.
func appendGPUs(b []byte, s *metrics.GPUSecond) []byte {
	b = appendLength(b, "at_ns", s.At)
	b = appendLength(b, "took_ns", s.Took)
	b = append(appendKey(b, "each"), '[')
	for i := range s.GPUs[:min(len(s.GPUs), mostGPUs)] {
		if i > 0 {
			b = append(b, ',')
		}
		g := &s.GPUs[i]
		b = append(b, '{')
		b = appendNatural(b, "index", g.Index)
		b = appendText(b, "name", g.Name[:min(len(g.Name), longestName)])
		for _, f := range gpuFigures(g) {
			b = appendFigure(b, f.key, *f.value)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// gpus reads what appendGPUs wrote.
func (f *fields) gpus() metrics.GPUSecond {
	s := metrics.GPUSecond{At: f.length("at_ns"), Took: f.length("took_ns")}
	each := f.array("each")
	if len(each) > mostGPUs {
		f.fail("each", "at most "+strconv.Itoa(mostGPUs)+" accelerators")
		return s
	}
	for _, v := range each {
		o, err := v.Object()
		if err != nil {
			f.fail("each", "an object for each accelerator")
			return s
		}
		inner := fields{o: o}
		s.GPUs = append(s.GPUs, inner.gpu())
		f.inherit(&inner)
	}
	return s
}

func (f *fields) gpu() metrics.GPU {
	g := metrics.GPU{Index: f.natural("index"), Name: f.text("name")}
	if len(g.Name) > longestName {
		g.Name = strings.ToValidUTF8(g.Name[:longestName], "")
	}
	for _, x := range gpuFigures(&g) {
		*x.value = f.figure(x.key)
	}
	return g
}
