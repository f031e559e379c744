package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

// ServerWatch polls a server's metrics page. It belongs to one goroutine.
type ServerWatch struct {
	pages []Page
	kinds []kind

	kind   string
	before *reading // nil: no poll has succeeded yet
	at     time.Duration
	resets []counterReset
	inTurn bool // counters of before a reset came back

	rest   time.Duration
	failed int // polls in a row
}

// NewServerWatch watches the pages of servers that share a load: their figures are added up as those of the engines of
// one server are.
func NewServerWatch(pages ...Page) *ServerWatch {
	return &ServerWatch{pages: pages, kinds: kinds(), rest: pollEvery}
}

// ErrUnknownServer: a page has no known figures. Some servers have none before their first request.
var ErrUnknownServer = errors.New("no metrics of")

// ErrReturned is an ErrRestarted: counters are back at their values before a reset, as if several processes answered in
// turn.
var ErrReturned = fmt.Errorf("earlier counters came back: %w", ErrRestarted)

// Poll reads the pages, all of them or none; ctx brings the time-out, at is the moment by the run's clock. The first
// successful poll has levels but no movements, which are Unsaid. After ErrRestarted, when counters fell since the poll
// before, and after ErrReturned the levels are valid nevertheless, and the next poll counts from there. After any other
// error the second is unknown; the next successful poll has the movements since the last one.
func (w *ServerWatch) Poll(ctx context.Context, at time.Duration) (metrics.ServerSecond, error) {
	now := newReading(w.kinds)
	began := time.Now()
	length, err := fetchAll(ctx, w.pages, now.add)
	if err == nil {
		err = now.missing(w.pages)
	}
	w.pace(at, time.Since(began), length, err)
	if err != nil {
		return new(reading).second(at), fmt.Errorf("reading the server's metrics page%w%s", err, remedy(err))
	}
	w.kind = now.kind.name
	before, since := w.before, at-w.at
	w.before, w.at = now, at
	s := now.second(at)
	if s.Engines = now.engines(nil); before == nil {
		return s, nil
	}
	s.Took = since
	if now.restarted(before) {
		w.resets = append(w.resets[max(0, len(w.resets)-mostResets+1):], counterReset{before, now, at})
		return s, ErrRestarted
	}
	if w.fromBeforeReset(now, before, at, since) {
		return s, ErrReturned
	}
	now.movements(&before.values, &s)
	s.SpecDecode, _ = before.counters.SpecDecode(now.counters) // a fall was found above
	s.Engines = now.engines(before)
	return s, nil
}

// missing is an error for the first page without figures of the kind of server that pages have.
func (r *reading) missing(pages []Page) error {
	wanted := "vLLM, SGLang, llama.cpp or TGI"
	if r.kind != nil {
		wanted = r.kind.name + ", which another page has; all must be of one kind"
	}
	for _, p := range pages {
		if !r.seen[p.Server] {
			return fmt.Errorf(" at %s: %w %s", redacted(p.URL), ErrUnknownServer, wanted)
		}
	}
	return nil
}

// counterReset has the counters before a reset and those after it, and the moment of the latter.
type counterReset struct {
	counters, after *reading
	at              time.Duration
}

// caughtUp reports whether a reading is behind a restarted server's one before it by no more than the server has moved
// on since its restart. A jump is another process.
func (r *counterReset) caughtUp(now, before *reading, at, since time.Duration) bool {
	grew := before.values.total() - r.after.values.total()
	rise := now.values.total() - before.values.total()
	return rise*float64(at-since-r.at) < mostRise*grew*float64(since)
}

const (
	// mostResets limits the processes that may answer in turn.
	mostResets = 8
	// resetMemory is the time for which counters back at their values before a reset are taken for another process's,
	// rather than for those of a restarted one that has caught up.
	resetMemory = time.Minute
	// mostRise limits the rise of counters within a poll, in those of the polls since a restart.
	mostRise = 2
)

// fromBeforeReset reports whether a reading continues counters from before a reset: then several processes answer in
// turn, each with its own counters, and the rise means nothing.
func (w *ServerWatch) fromBeforeReset(now, before *reading, at, since time.Duration) bool {
	returned := false
	w.resets = slices.DeleteFunc(w.resets, func(r counterReset) bool {
		over := !now.restarted(r.counters)
		if over && at-r.at < resetMemory && (w.inTurn || !r.caughtUp(now, before, at, since)) {
			returned = true
		}
		return over
	})
	w.inTurn = w.inTurn || returned
	return returned
}

// Kind of the server, such as "vLLM"; "" until a poll recognizes it.
func (w *ServerWatch) Kind() string { return w.kind }

// remedy is a hint for users on an error.
func remedy(err error) string {
	var no *statusError
	if errors.As(err, &no) && (no.status == http.StatusNotFound || no.status == http.StatusNotImplemented) {
		return "; some servers need a flag for it: SGLang --enable-metrics, llama.cpp --metrics"
	}
	return ""
}

const (
	// pollEvery is the interval between successful polls, and pollFirst the shortest one at the start of a run, which
	// may be short. retryMost is the longest interval between failed polls, and retryKnown the one for a server that
	// has answered before: it may be back any moment.
	pollEvery  = time.Second
	pollFirst  = pollEvery / 4
	retryMost  = 30 * time.Second
	retryKnown = 5 * time.Second
	// pageRate limits the bytes of pages read in a second, so that a page of any length costs little.
	pageRate = 4e6
)

// Rest is the pause before the next poll, so that polls disturb neither the server nor the load: a second, less in the
// first second of a run, more after a long or slow page, up to half a minute while polls fail, and 5 s if one succeeded
// before.
func (w *ServerWatch) Rest() time.Duration { return w.rest }

func (w *ServerWatch) pace(at, took time.Duration, length int64, err error) {
	every := pollEvery
	if err == nil {
		every = min(max(pollFirst, at), pollEvery)
	}
	w.rest = max(every, took, time.Duration(float64(length)/pageRate*float64(time.Second)))
	w.failed++
	switch {
	case err == nil:
		w.failed = 0
	case w.before == nil:
		w.rest = max(w.rest, pollEvery<<min(w.failed, 5))
	case w.failed > 3:
		w.rest = max(w.rest, retryKnown)
	}
	w.rest = min(w.rest, retryMost)
}

// second has the levels of figures.
func (r *values) second(at time.Duration) metrics.ServerSecond {
	no := metrics.Unsaid()
	s := metrics.ServerSecond{
		At: at, Running: r.level(running), Waiting: r.level(waiting), KVUsage: r.share(kvUsage),
		Preemptions: no, PrefixQueries: no, PrefixHits: no, HitRate: no, PromptTokens: no, OutputTokens: no,
		DraftTokens: no, AcceptedTokens: no,
	}
	if r[prefixHits].n == 0 {
		s.HitRate = r.share(hitRate)
	}
	s.PromptAtEnd, s.OutputAtEnd = r[promptTokens].atEnd, r[outputTokens].atEnd
	s.WaitsAtEnd = r[queueCount].atEnd || r[prefillCount].atEnd
	return s
}

// movements adds the rise of counters since the reading before.
func (r *values) movements(before *values, s *metrics.ServerSecond) {
	moved := func(f figure) float64 { return r.moved(before, f) }
	s.Preemptions, s.PromptTokens, s.OutputTokens = moved(preemptions), moved(promptTokens), moved(outputTokens)
	if r[prefixHits].n > 0 {
		s.PrefixQueries = moved(prefixQueries)
		s.PrefixHits = min(moved(prefixHits), s.PrefixQueries)
		if s.PrefixQueries > 0 {
			s.HitRate = s.PrefixHits / s.PrefixQueries
		}
	}
	s.DraftTokens, s.AcceptedTokens = moved(draftTokens), moved(acceptedTokens)
	if r[draftTokens].n == 0 {
		s.DraftTokens, s.AcceptedTokens = r.drafted(s.OutputTokens)
	}
	s.TTFT = latency(moved(ttftSum), moved(ttftCount))
	s.Queue = latency(moved(queueSum), moved(queueCount))
	s.Prefill = latency(moved(prefillSum), moved(prefillCount))
}

// drafted estimates the tokens drafted and accepted for some tokens of output of a server that reports only the length
// of its steps and the rate of acceptance: a step gives the accepted tokens and one of its own.
func (r *values) drafted(output float64) (drafted, accepted float64) {
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

// reading has the figures of one poll, of the first kind of server on the page.
type reading struct {
	kinds []kind
	kind  *kind // nil: none of them yet
	values
	seen     map[int]bool // servers with figures of the kind
	each     map[engineName]*values
	counters Counters
}

func newReading(kinds []kind) *reading {
	return &reading{kinds: kinds, seen: map[int]bool{}, each: map[engineName]*values{}}
}

// values are the figures of all engines together, or of one.
type values [figures]accumulator

// engineName tells engines apart: the place of the server, and the label of the engine there.
type engineName struct {
	server int
	label  string
}

// accumulator adds up a figure over engines and models.
type accumulator struct {
	sum   float64
	n     int
	rank  uint8
	rises bool
	atEnd bool
}

// add adds a line of the page of a server.
func (r *reading) add(server int, line []byte) {
	r.counters.add(line)
	name, _ := sampleName(line)
	sources := r.sources(name)
	if sources == nil {
		return
	}
	r.seen[server] = true
	_, value, method, ok := sample(line, "method")
	if !ok {
		return
	}
	engine := r.engine(server, line)
	for _, from := range sources {
		if from.method == "" || from.method == string(method) {
			r.values[from.figure].add(from, value)
			engine[from.figure].add(from, value)
		}
	}
}

// longestLabel bounds the label of an engine, which is mostly its number.
const longestLabel = 32

// engine has the figures of the engine of a line, or of all those that are too many.
func (r *reading) engine(server int, line []byte) *values {
	_, labelled, _ := bytes.Cut(line, []byte{'{'})
	label, _, _ := labels(labelled, r.kind.label)
	label = label[:min(len(label), longestLabel)]
	found := r.each[engineName{server, string(label)}]
	if found != nil {
		return found
	}
	name := engineName{server, string(label)}
	if len(r.each) >= metrics.MostEngines-1 {
		name = engineName{metrics.OtherServers, metrics.OtherEngines}
		found = r.each[name]
	}
	if found == nil {
		found = new(values)
		r.each[name] = found
	}
	return found
}

// engines are samples of several engines that have a queue, nil for one, with their movements since the reading before,
// which may be nil, unless the counters of an engine fell.
func (r *reading) engines(before *reading) (out []metrics.Engine) {
	for name, now := range r.each {
		s := now.second(0)
		if !metrics.Said(s.Running) {
			continue
		}
		if before != nil {
			if then := before.each[name]; then != nil && !now.fell(then) {
				now.movements(then, &s)
			}
		}
		out = append(out, metrics.Engine{Server: name.server, Name: strings.ToValidUTF8(name.label, ""),
			Running: s.Running, Waiting: s.Waiting, KVUsage: s.KVUsage, PromptTokens: s.PromptTokens,
			OutputTokens: s.OutputTokens, TTFT: s.TTFT})
	}
	if len(out) < 2 {
		return nil
	}
	slices.SortFunc(out, func(a, b metrics.Engine) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(len(a.Name), len(b.Name)),
			cmp.Compare(a.Name, b.Name))
	})
	return out
}

// sources are the figures of a series, nil if there are none.
func (r *reading) sources(name []byte) []source {
	if r.kind != nil {
		return r.kind.sources(name)
	}
	for i := range r.kinds {
		if found := r.kinds[i].sources(name); found != nil {
			r.kind = &r.kinds[i]
			return found
		}
	}
	return nil
}

// sources is nil for a series of another kind of server, or of no interest. Names are "vllm:x" or "vllm_x".
func (e *kind) sources(name []byte) []source {
	n := len(e.prefix)
	if len(name) <= n || name[n] != ':' && name[n] != '_' || string(name[:n]) != e.prefix {
		return nil
	}
	return e.names[string(bytes.TrimSuffix(name[n+1:], []byte("_total")))]
}

func (s *accumulator) add(from source, value float64) {
	if s.n > 0 && from.rank > s.rank {
		return
	}
	if s.n == 0 || from.rank < s.rank {
		*s = accumulator{rank: from.rank, rises: from.rises, atEnd: from.atEnd}
	}
	s.sum += value
	s.n++
}

// level is the present value of a figure: the mean of the engines if it is averaged, else their sum.
func (r *values) level(f figure) float64 {
	s := r[f]
	switch {
	case s.n == 0:
		return metrics.Unsaid()
	case f.averaged():
		return s.sum / float64(s.n)
	}
	return s.sum
}

// share is a level that is at most 1.
func (r *values) share(f figure) float64 { return min(r.level(f), 1) }

// moved is the rise of a counter since the reading before. A counter that is new starts at 0: a series may begin with
// its first event.
func (r *values) moved(before *values, f figure) float64 {
	if r[f].n == 0 {
		return metrics.Unsaid()
	}
	return max(0, r[f].sum-before[f].sum)
}

// total is the sum of all counters.
func (r *values) total() (sum float64) {
	for f := range figures {
		if f.counted() && !r[f].rises {
			sum += r[f].sum
		}
	}
	return sum
}

// restarted reports whether a counter fell since the reading before, or another kind of server answers.
func (r *reading) restarted(before *reading) bool {
	return r.kind.name != before.kind.name || r.fell(&before.values)
}

// fell reports whether a counter fell, or disappeared.
func (r *values) fell(before *values) bool {
	for f := range figures {
		now, then := r[f], before[f]
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
