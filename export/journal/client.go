package journal

import (
	"fmt"
	"math"
	"strconv"
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
