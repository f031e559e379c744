package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"benchtop/metrics"
)

// ServerWatch looks at a server's metrics page, again and again. It belongs to one goroutine.
type ServerWatch struct {
	client  *http.Client
	page    string
	engines []engine

	kind   string
	before *reading // nil: no look has succeeded yet
	at     time.Duration
	left   []left

	rest   time.Duration
	failed int // looks in a row
}

// NewServerWatch watches the page at a whole URL. The client brings headers and TLS.
func NewServerWatch(client *http.Client, page string) *ServerWatch {
	return &ServerWatch{client: client, page: page, engines: engines(), rest: lookEvery}
}

// errUnknownServer says that there is a page, but nothing on it for us. Some servers begin to speak with their first request.
var errUnknownServer = errors.New("it has no figures of vLLM, SGLang, llama.cpp or TGI")

// ErrReturned is an ErrRestarted: counters stand again where they fell from, as they do where several processes answer in turn.
var ErrReturned = fmt.Errorf("counters of before came back: %w", ErrRestarted)

// Look reads the page; ctx brings the time-out, at is the moment by the run's clock. The first look that succeeds knows levels
// but no movements, which are Unsaid. The error is ErrRestarted if counters fell since the look before, or ErrReturned: then the levels are
// good nevertheless, and the next look counts from there. Any other error means that nothing is known of this moment; the
// next look that succeeds says how counters moved since the last one that did.
func (w *ServerWatch) Look(ctx context.Context, at time.Duration) (metrics.ServerSecond, error) {
	now := &reading{engines: w.engines}
	began := time.Now()
	length, err := fetch(ctx, w.client, w.page, now.add)
	if err == nil && now.engine == nil {
		err = fmt.Errorf(" at %s: %w", redacted(w.page), errUnknownServer)
	}
	w.pace(at, time.Since(began), length, err)
	if err != nil {
		return new(reading).second(at), fmt.Errorf("reading the server's metrics page%w%s", err, remedy(err))
	}
	w.kind = now.engine.kind
	before, since := w.before, at-w.at
	w.before, w.at = now, at
	s := now.second(at)
	if before == nil {
		return s, nil
	}
	s.Took = since
	if now.restarted(before) {
		w.left = append(w.left[max(0, len(w.left)-mostLeft+1):], left{before, at})
		return s, ErrRestarted
	}
	if w.returned(now, at) {
		return s, ErrReturned
	}
	now.movements(before, &s)
	return s, nil
}

// left is what counters stood at before they fell, and the moment of that.
type left struct {
	counters *reading
	at       time.Duration
}

const (
	// mostLeft bounds the processes that may answer in turn.
	mostLeft = 8
	// leftFor is how long counters that stand again where they fell from are another process's rather than those of one that
	// was restarted and has caught up.
	leftFor = time.Minute
)

// returned reports whether a reading goes on from before counters fell: then several processes answer in turn, each with
// counters of its own, and the rise says nothing.
func (w *ServerWatch) returned(now *reading, at time.Duration) bool {
	n := len(w.left)
	w.left = slices.DeleteFunc(w.left, func(l left) bool { return at-l.at < leftFor && !now.restarted(l.counters) })
	return len(w.left) < n
}

// Kind of the server, such as "vLLM"; "" as long as no look has recognized it.
func (w *ServerWatch) Kind() string { return w.kind }

// remedy says what to try against an error.
func remedy(err error) string {
	var no *refused
	if errors.As(err, &no) && (no.status == http.StatusNotFound || no.status == http.StatusNotImplemented) {
		return "; some servers have that page only if asked for it: SGLang with --enable-metrics, llama.cpp with --metrics"
	}
	return ""
}

const (
	// lookEvery is how often a server is asked that answers well, and lookFirst how soon again when a run has only begun: it may
	// be a short one. seldom is how often one at least that does not, and returning how often one that did answer: it may be back
	// any moment.
	lookEvery = time.Second
	lookFirst = lookEvery / 4
	seldom    = 30 * time.Second
	returning = 5 * time.Second
	// pageRate is how many bytes of pages a second we read at most, so that a page of any length costs little.
	pageRate = 4e6
)

// Rest is how long to leave the server alone before the next look, so that looks disturb neither it nor the load: a second,
// less in the first second of a run, more after a page that is long or takes long, up to half a minute while looks fail, and 5 s
// if one succeeded before.
func (w *ServerWatch) Rest() time.Duration { return w.rest }

func (w *ServerWatch) pace(at, took time.Duration, length int64, err error) {
	every := lookEvery
	if err == nil {
		every = min(max(lookFirst, at), lookEvery)
	}
	w.rest = max(every, took, time.Duration(float64(length)/pageRate*float64(time.Second)))
	w.failed++
	switch {
	case err == nil:
		w.failed = 0
	case w.before == nil:
		w.rest = max(w.rest, lookEvery<<min(w.failed, 5))
	case w.failed > 3:
		w.rest = max(w.rest, returning)
	}
	w.rest = min(w.rest, seldom)
}

// second is what a reading says by itself.
func (r *reading) second(at time.Duration) metrics.ServerSecond {
	no := metrics.Unsaid()
	s := metrics.ServerSecond{
		At: at, Running: r.level(running), Waiting: r.level(waiting), KVUsage: r.share(kvUsage),
		Preemptions: no, PrefixQueries: no, PrefixHits: no, HitRate: no, PromptTokens: no, OutputTokens: no,
		DraftTokens: no, AcceptedTokens: no,
	}
	if r.said[prefixHits].n == 0 {
		s.HitRate = r.share(hitRate)
	}
	s.PromptAtEnd, s.OutputAtEnd = r.said[promptTokens].atEnd, r.said[outputTokens].atEnd
	s.WaitsAtEnd = r.said[queueCount].atEnd || r.said[prefillCount].atEnd
	return s
}

// movements adds what happened since the reading before.
func (r *reading) movements(before *reading, s *metrics.ServerSecond) {
	moved := func(f figure) float64 { return r.moved(before, f) }
	s.Preemptions, s.PromptTokens, s.OutputTokens = moved(preemptions), moved(promptTokens), moved(outputTokens)
	if r.said[prefixHits].n > 0 {
		s.PrefixQueries = moved(prefixQueries)
		s.PrefixHits = min(moved(prefixHits), s.PrefixQueries)
		if s.PrefixQueries > 0 {
			s.HitRate = s.PrefixHits / s.PrefixQueries
		}
	}
	s.DraftTokens, s.AcceptedTokens = moved(draftTokens), moved(acceptedTokens)
	if r.said[draftTokens].n == 0 {
		s.DraftTokens, s.AcceptedTokens = r.drafted(s.OutputTokens)
	}
	s.TTFT = latency(moved(ttftSum), moved(ttftCount))
	s.Queue = latency(moved(queueSum), moved(queueCount))
	s.Prefill = latency(moved(prefillSum), moved(prefillCount))
}

// drafted is how many tokens were drafted and accepted for so many tokens of output, by a server that tells only how long
// its steps are and how many of its drafts are accepted: a step gives the accepted tokens and one of its own.
func (r *reading) drafted(output float64) (drafted, accepted float64) {
	length, rate := r.level(acceptLength), r.level(acceptRate)
	if !(length >= 1 && rate > 0 && rate <= 1) {
		return metrics.Unsaid(), metrics.Unsaid()
	}
	accepted = output * (1 - 1/length)
	return accepted / rate, accepted
}

// latency is the mean of n latencies with a sum in seconds.
func latency(sum, n float64) metrics.ServerLatency {
	const most = float64(1000 * time.Hour / time.Second)
	if !(n > 0 && sum >= 0 && sum/n <= most) {
		return metrics.ServerLatency{}
	}
	return metrics.ServerLatency{N: n, Mean: time.Duration(math.Round(sum / n * float64(time.Second)))}
}

// reading is what one look at a metrics page found, of the first kind of server that it names.
type reading struct {
	engines []engine
	engine  *engine // nil: none of them yet
	said    [figures]tally
}

// tally is a figure, added up over the engines and models of a server.
type tally struct {
	sum   float64
	n     int
	rank  uint8
	rises bool
	atEnd bool
}

// add takes a line of the page in.
func (r *reading) add(line []byte) {
	name, _ := sampleName(line)
	sources := r.sources(name)
	if sources == nil {
		return
	}
	_, value, method, ok := sample(line, "method")
	if !ok {
		return
	}
	for _, from := range sources {
		if from.method == "" || from.method == string(method) {
			r.said[from.figure].add(from, value)
		}
	}
}

// sources is what a series gives, nil for nothing that matters.
func (r *reading) sources(name []byte) []source {
	if r.engine != nil {
		return r.engine.sources(name)
	}
	for i := range r.engines {
		if found := r.engines[i].sources(name); found != nil {
			r.engine = &r.engines[i]
			return found
		}
	}
	return nil
}

// sources is nil for a series that is not of this kind of server, "vllm:x" or "vllm_x", or of no interest.
func (e *engine) sources(name []byte) []source {
	n := len(e.prefix)
	if len(name) <= n || name[n] != ':' && name[n] != '_' || string(name[:n]) != e.prefix {
		return nil
	}
	return e.names[string(bytes.TrimSuffix(name[n+1:], []byte("_total")))]
}

func (s *tally) add(from source, value float64) {
	if s.n > 0 && from.rank > s.rank {
		return
	}
	if s.n == 0 || from.rank < s.rank {
		*s = tally{rank: from.rank, rises: from.rises, atEnd: from.atEnd}
	}
	s.sum += value
	s.n++
}

// level is a figure as it stands: the mean of the engines, if it is a share, or their sum.
func (r *reading) level(f figure) float64 {
	s := r.said[f]
	switch {
	case s.n == 0:
		return metrics.Unsaid()
	case f.averaged():
		return s.sum / float64(s.n)
	}
	return s.sum
}

// share is a level that is one part of a whole.
func (r *reading) share(f figure) float64 { return min(r.level(f), 1) }

// moved is how a counter moved since the reading before. What was not there then starts at 0: a series may begin with its
// first event.
func (r *reading) moved(before *reading, f figure) float64 {
	if r.said[f].n == 0 {
		return metrics.Unsaid()
	}
	return max(0, r.said[f].sum-before.said[f].sum)
}

// restarted reports whether a counter fell since the reading before, or went away.
func (r *reading) restarted(before *reading) bool {
	if r.engine.kind != before.engine.kind {
		return true
	}
	for f := range figures {
		now, then := r.said[f], before.said[f]
		if !f.counted() || now.rises || then.rises || then.n == 0 {
			continue
		}
		// Sums of fractions may differ in the last place.
		if now.n == 0 || now.sum < then.sum*(1-1e-9) {
			return true
		}
	}
	return false
}
