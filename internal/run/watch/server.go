package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"benchtop/internal/telemetry"
	"benchtop/internal/text"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/live"
)

const (
	// scrapeTimeout is how long the server may take for its counters, firstPoll for the poll before the run, lastPoll
	// for the one that ends it.
	scrapeTimeout = 5 * time.Second
	firstPoll     = 250 * time.Millisecond
	lastPoll      = 500 * time.Millisecond
)

// Server is what is asked of the server beside the load: its counters before, during and after the run, and its
// profiler.
type Server struct {
	asked    []serverClient   // each server; the first speaks for all where one does
	pages    []telemetry.Page // of metrics
	named    Pages            // those of them that are not the servers' own
	secrets  []*target.Target // whose secrets nothing shows
	profiler *profiler

	scraping sync.WaitGroup // of the counters before the run; then before and counted are known
	before   telemetry.Counters
	counted  bool

	page  *telemetry.ServerWatch
	first *metrics.ServerSecond // of the poll before the run; nil if it had no answer
}

// serverClient is a server and the client that asks it.
type serverClient struct {
	client *http.Client
	target *target.Target
}

// Pages are pages of metrics in place of those of the servers, none for these. Apart: they are of several roles, such
// as prefill and decode, whose waits are parts of a request's, and do not add up to a mean.
type Pages struct {
	At    []*target.Target
	Apart bool
}

// NewServer asks the servers of a run, the first through a client of the caller, and profiles them if asked to. Their
// counters, or those of the pages, are added up; a server that is named twice is asked once.
func NewServer(client *http.Client, servers []*target.Target, named Pages, profiling Profiling) *Server {
	s := &Server{named: named, secrets: slices.Concat(servers, named.At)}
	for place, t := range servers {
		if slices.ContainsFunc(s.asked, func(a serverClient) bool { return a.target.Same(t) }) {
			continue
		}
		if s.asked != nil {
			client = t.Client()
		}
		s.asked = append(s.asked, serverClient{client, t})
		s.pages = append(s.pages, telemetry.Page{Client: client, URL: t.URL("/metrics"), Server: place})
	}
	if len(named.At) > 0 {
		s.pages = nil
	}
	for place, t := range named.At {
		s.pages = append(s.pages, telemetry.Page{Client: t.Client(), URL: t.URL(""), Server: place})
	}
	s.profiler = newProfiler(profiling, s.profile)
	return s
}

// Begin starts the profiler and reads the counters. It returns what went wrong and does not matter to the run.
func (s *Server) Begin(ctx context.Context) (notes []string) {
	notes = s.profiler.begin(ctx)
	s.scraping.Go(func() { // a page that takes its time must not keep the run waiting
		before, err := s.scrape()
		s.before, s.counted = before, err == nil
	})
	return notes
}

// Poll reads the server's page before the load, so that no request of the run is counted by then. A slow page does not
// keep the run waiting; its first poll comes beside the load then.
func (s *Server) Poll() {
	s.page = s.newPage()
	ctx, cancel := context.WithTimeout(context.Background(), firstPoll)
	defer cancel()
	if second, err := s.page.Poll(ctx, 0); err == nil {
		s.first = &second
	}
}

func (s *Server) newPage() *telemetry.ServerWatch {
	return telemetry.NewServerWatch(s.pages...)
}

// Check reads the pages that were named once, so that a wrong one is known before the load. A note is on one that may
// have figures later.
func (s *Server) Check(ctx context.Context) (notes []string, err error) {
	if len(s.named.At) == 0 {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	switch _, err = s.newPage().Poll(limited, 0); {
	case err == nil:
		return nil, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, telemetry.ErrUnknownServer):
		return []string{"--metrics-url: " + s.clean(err) +
			"; is it the page of an engine? Some have figures from their first request on"}, nil
	}
	return nil, fmt.Errorf("--metrics-url: %s; give pages that this machine can read, as http://HOST:PORT/metrics of "+
		"the engine itself", s.clean(err))
}

// End files what the counters moved by, and ends the profiling. A server without counters is not reported.
func (s *Server) End(end *metrics.End) (notes []string) {
	defer s.profiler.end()
	s.scraping.Wait()
	if !s.counted {
		return nil
	}
	after, err := s.scrape()
	if err != nil {
		return []string{"the server's counters could not be read after the run: " + s.clean(err)}
	}
	var problem error
	if end.SpecDecode, problem = s.before.SpecDecode(after); problem != nil {
		notes = append(notes, s.clean(problem))
	}
	if end.Diffusion, problem = s.before.Diffusion(after); problem != nil {
		notes = append(notes, s.clean(problem))
	}
	return notes
}

// Close waits for the profiler's trace, which may take its time, as a person is told by say, and returns what went
// wrong with it. It may be called on nil.
func (s *Server) Close(say func(string)) []string {
	if s == nil {
		return nil
	}
	for _, a := range s.asked {
		defer a.client.CloseIdleConnections()
	}
	for _, p := range s.pages {
		defer p.Client.CloseIdleConnections()
	}
	s.scraping.Wait()
	return s.profiler.wait(say)
}

func (s *Server) scrape() (telemetry.Counters, error) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	return telemetry.Scrape(ctx, s.pages...)
}

// profile asks each server to "start" or "stop" its profiler.
func (s *Server) profile(ctx context.Context, action string) error {
	var failed []error
	var did []serverClient
	for _, a := range s.asked {
		if err := telemetry.Profiler(ctx, a.client, a.target.URL(""), action); err != nil {
			failed = append(failed, fmt.Errorf("the server's profiler did not %s: %s", action, s.clean(err)))
		} else {
			did = append(did, a)
		}
	}
	if failed != nil && action == "start" { // all or none
		for _, a := range did {
			_ = telemetry.Profiler(ctx, a.client, a.target.URL(""), "stop")
		}
	}
	return errors.Join(failed...)
}

func (s *Server) clean(err error) string {
	words := err.Error()
	for _, t := range s.secrets {
		words = t.Hide(words)
	}
	return text.Clean(words)
}

// Watch reads the server's metrics page about once a second until ctx ends, and a last time, and tells what it says,
// what kind of server it is, and why there is nothing, or nothing more, to say. cache hears of each poll.
func (s *Server) Watch(ctx context.Context, start time.Time, cache *Cache, tell Tell) {
	s.profiler.tell = tell
	w := serverWatch{server: s, page: s.page, first: s.first, start: start, cache: cache, tell: tell}
	if w.first == nil {
		w.page = s.newPage()
	}
	defer cache.warn(tell) // the answers may tell of the cache where the page does not
	for last := false; ; {
		second, err := w.poll(ctx, last)
		// the end of the run cut it short
		if err != nil && ctx.Err() != nil && !errors.Is(err, telemetry.ErrRestarted) {
			if last || w.absent != "" {
				return
			}
			last = true
			continue
		}
		w.take(second, err)
		if last {
			return
		}
		select {
		case <-time.After(w.page.Rest()):
		case <-ctx.Done():
			last = w.absent == "" // once more, for what came since
			if !last {
				return
			}
		}
	}
}

// serverWatch is one watch of a server's page.
type serverWatch struct {
	server *Server
	page   *telemetry.ServerWatch
	first  *metrics.ServerSecond
	start  time.Time
	cache  *Cache
	tell   Tell

	resets counterResets
	absent string // why the page says nothing now, "" if it does
	source metrics.Source
	polls  int // that saw something
	turns  int // between a page that says something and one that does not
}

func (w *serverWatch) poll(ctx context.Context, last bool) (metrics.ServerSecond, error) {
	if first := w.first; first != nil {
		w.first = nil
		return *first, nil
	}
	limit := scrapeTimeout
	if last {
		ctx, limit = context.Background(), lastPoll
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return w.page.Poll(ctx, time.Since(w.start).Round(time.Microsecond))
}

// take tells the outcome of a poll.
func (w *serverWatch) take(second metrics.ServerSecond, err error) {
	was, known := w.absent, w.polls > 0
	w.absent = ""
	switch {
	case errors.Is(err, telemetry.ErrRestarted):
		if text, mark := w.resets.add(err); text != "" {
			w.tell.mark(metrics.Warn, text, mark)
		}
	case err != nil:
		w.absent = w.server.clean(err)
	}
	if w.absent == "" {
		w.polls++
		if w.server.named.Apart {
			no := metrics.ServerLatency{}
			second.TTFT, second.Queue, second.Prefill, second.WaitsAtEnd = no, no, no, false
		}
		w.tell(second)
		w.server.profiler.see(second.Running)
		w.cache.add(&second)
	}
	w.cache.warn(w.tell)
	if now := (metrics.Source{Name: metrics.ServerCounters, Kind: w.page.Kind(), Absent: w.absent}); now != w.source {
		w.source = now
		w.tell(now)
	}
	if known && (w.absent == "") != (was == "") {
		w.turned()
	}
}

// turned logs that a page that was there is gone, or back, unless that has been told often.
func (w *serverWatch) turned() {
	w.turns++
	switch {
	case w.turns > 2*mostResets:
	case w.absent == "":
		w.tell.log(metrics.Info, "the server's /metrics is back")
	default:
		w.tell.log(metrics.Warn, "no more server data: "+w.absent)
	}
}

// counterResets counts how often the server's counters fell, and how often those of before came back.
type counterResets struct{ falls, returns int }

// mostResets are told. After mostReturns it is clear that several processes answer in turn, each with counters of its
// own.
const (
	mostResets  = 5
	mostReturns = 2
)

// add says for a person what it means that counters fell, and its mark; "" where that was told before.
func (r *counterResets) add(err error) (text, mark string) {
	if r.returns >= mostReturns {
		return "", ""
	}
	r.falls++
	if errors.Is(err, telemetry.ErrReturned) {
		r.returns++
	}
	text = "the server's counters dropped: it restarted, or another server answered"
	switch {
	case r.returns == mostReturns:
		return "several processes answer /metrics in turn, each with its own counters, so the server's totals " +
			"are missing or too small; to fix this, give the page of each as --metrics-url", metrics.InTurnMark
	case r.falls > mostResets:
		return "", ""
	case r.falls == mostResets:
		text += "; further drops are not reported"
	}
	return text, metrics.RestartMark
}

// Cache notices that the server's prefix cache knows much more of the prompts than they have in common: then a run
// before this one, or another client, sent them already, and the server does less work than it seems to.
type Cache struct {
	View *live.View
	// Share is the part of the prompt tokens, from 0 to 1, that the prompts of this run have in common at most if the
	// server puts so many tokens of a template before each; 1 where that is not known.
	Share func(templateTokens float64) float64
	// Templates: the server puts a template before each prompt. Counted: the prompts' own tokens were counted well.
	Templates, Counted bool
	// Cold: prompts are kept apart from those of earlier runs.
	Cold bool

	queries, hits float64 // by the server's metrics page
	said          bool    // the page has them
	warned        bool
}

// share is the part of the prompt tokens that a perfect cache would know from this run alone.
func (c *Cache) share() float64 {
	template := 0.0
	if c.Templates {
		template = metrics.MostTemplate
		// The template is the rest of the server's count, if the prompt was counted well.
		if mean := c.View.TemplateTokens(); mean > 0 && c.Counted {
			template = min(mean, template)
		}
	}
	return c.Share(template)
}

// add takes in what the server's page says.
func (c *Cache) add(s *metrics.ServerSecond) {
	if metrics.Said(s.PrefixQueries) && metrics.Said(s.PrefixHits) {
		c.queries, c.hits, c.said = c.queries+s.PrefixQueries, c.hits+s.PrefixHits, true
	}
}

// warn tells, once, that the cache knows too much.
func (c *Cache) warn(tell Tell) {
	totals := c.View.Totals()
	if text := c.warning(&totals, c.share()); text != "" {
		tell.mark(metrics.Warn, text, metrics.CacheMark)
	}
}

// warning is "" for none. Where the page does not tell of the cache, the answers may.
func (c *Cache) warning(answers *metrics.Counts, share float64) string {
	queries, hits := c.queries, c.hits
	if !c.said {
		queries, hits = float64(answers.Cached.Of), float64(answers.Cached.Tokens)
	}
	if c.warned || !metrics.CacheKnowsMore(hits/queries, queries, share) {
		return ""
	}
	c.warned = true
	why := "an earlier run warmed it, or another client sends them; --cache cold excludes earlier runs"
	if c.Cold {
		why = "another client seems to send prompts too"
	}
	return fmt.Sprintf("the server's prefix cache hit %.0f%% of the first %.0f prompt tokens, although prompts share "+
		"at most %.0f%%; %s", 100*hits/queries, queries, 100*share, why)
}
