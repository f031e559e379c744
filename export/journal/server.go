package journal

import (
	"math"
	"strconv"

	"benchtop/metrics"
)

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
