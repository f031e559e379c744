package cli

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"benchtop/export"
	"benchtop/internal/telemetry"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// sideline is what is asked of the server beside the load: its counters before and after the run, and its profiler.
type sideline struct {
	client  *http.Client
	target  *target.Target
	profile bool

	looking sync.WaitGroup // at the counters before the run; then before and counted are known
	before  telemetry.Counters
	counted bool
}

// scrapeTimeout is how long the server may take for its counters.
const scrapeTimeout = 5 * time.Second

// profilerTimeout is for a profiler that writes down all it has seen before it answers.
const profilerTimeout = 5 * time.Minute

// begin starts the profiler and a look at the counters. It returns what went wrong and does not matter to the run.
func (s *sideline) begin(ctx context.Context) (notes []string) {
	if s.profile {
		notes = append(notes, s.profiler(ctx, "start")...)
	}
	s.looking.Go(func() { // a page that takes its time must not keep the run waiting
		before, err := s.scrape(context.Background())
		s.before, s.counted = before, err == nil
	})
	return notes
}

// end files what the counters moved by. That a server has none is no news.
func (s *sideline) end(end *metrics.End) (notes []string) {
	s.looking.Wait()
	if !s.counted {
		return nil
	}
	after, err := s.scrape(context.Background())
	if err != nil {
		return []string{"the server's counters could not be read after the run: " + s.words(err)}
	}
	var problem error
	if end.SpecDecode, problem = s.before.SpecDecode(after); problem != nil {
		notes = append(notes, s.words(problem))
	}
	if end.Diffusion, problem = s.before.Diffusion(after); problem != nil {
		notes = append(notes, s.words(problem))
	}
	return notes
}

// close stops the profiler.
func (s *sideline) close() []string {
	defer s.client.CloseIdleConnections()
	s.looking.Wait()
	if !s.profile {
		return nil
	}
	return s.profiler(context.Background(), "stop")
}

func (s *sideline) scrape(ctx context.Context) (telemetry.Counters, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	return telemetry.Scrape(ctx, s.client, s.target.URL("/metrics"))
}

func (s *sideline) profiler(ctx context.Context, action string) []string {
	ctx, cancel := context.WithTimeout(ctx, profilerTimeout)
	defer cancel()
	if err := telemetry.Profiler(ctx, s.client, s.target.String(), action); err != nil {
		return []string{fmt.Sprintf("the server's profiler did not %s: %s", action, s.words(err))}
	}
	return nil
}

func (s *sideline) words(err error) string { return export.Clean(s.target.Hide(err.Error())) }
