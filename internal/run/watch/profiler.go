package watch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"benchtop/metrics"
)

// Profiling says when the server's profiler runs.
type Profiling struct {
	On bool
	// Threshold is how many requests the server runs at once when its profiler starts, for Duration; with 0 it runs
	// from before the first request to after the last.
	Threshold int
	Duration  time.Duration
}

const (
	// startTimeout is for a profiler that takes its time to start; traceTimeout for one that writes down all it has
	// seen before it answers, which takes some servers ten minutes.
	startTimeout = 5 * time.Minute
	traceTimeout = 30 * time.Minute
	// traceTold is how often a person who waits for the trace hears of it.
	traceTold = 10 * time.Second
)

// profiler is the server's profiler in a run.
//
//	off ── before the load, or at the threshold ──▶ on ── the load is over, or the duration ──▶ writing ──▶ done
type profiler struct {
	Profiling
	ask  func(ctx context.Context, action string) error // of the server: "start" or "stop"
	tell Tell                                           // to the log of the run

	loadOver chan struct{}
	work     sync.WaitGroup // of a capture, and of the writing

	mu      sync.Mutex // guards everything below
	begun   bool       // it was asked to start
	seen    bool       // its page said how many requests it runs
	most    float64    // of these at once
	writing time.Time  // since when it writes its trace, zero before
	notes   []string   // what went wrong
}

func newProfiler(p Profiling, ask func(context.Context, string) error) *profiler {
	return &profiler{Profiling: p, ask: ask, tell: func(any) {}, loadOver: make(chan struct{})}
}

// begin starts the profiler before the load, unless it waits for a threshold.
func (p *profiler) begin(ctx context.Context) (notes []string) {
	if !p.On || p.Threshold > 0 {
		return nil
	}
	err := p.start(ctx)
	if err != nil {
		notes = []string{err.Error()}
	}
	if err != nil && ctx.Err() == nil {
		return notes
	}
	// Where the wait for its start was given up, it may start all the same.
	p.work.Go(func() {
		<-p.loadOver
		p.stop()
	})
	return notes
}

// see takes how many requests the server runs, and starts a capture at the threshold.
func (p *profiler) see(running float64) {
	if !p.On || p.Threshold == 0 || !metrics.Said(running) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most, p.seen = max(p.most, running), true
	if p.begun || running < float64(p.Threshold) {
		return
	}
	p.begun = true
	p.work.Go(func() { p.capture(running) })
}

// capture profiles for the duration, or to the end of the load.
func (p *profiler) capture(running float64) {
	if err := p.start(context.Background()); err != nil {
		p.failed(err)
		return
	}
	p.tell.log(metrics.Info,
		fmt.Sprintf("the server runs %.0f requests: its profiler has started, for %s", running, p.Duration))
	select {
	case <-time.After(p.Duration):
	case <-p.loadOver:
	}
	p.stop()
}

func (p *profiler) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return p.ask(ctx, "start")
}

// stop has the server write its trace.
func (p *profiler) stop() {
	began := time.Now()
	p.mu.Lock()
	p.writing = began
	p.mu.Unlock()
	p.tell.log(metrics.Info, "the server's profiler stops and writes its trace")
	ctx, cancel := context.WithTimeout(context.Background(), traceTimeout)
	defer cancel()
	if err := p.ask(ctx, "stop"); err != nil {
		p.failed(err)
		return
	}
	p.tell.log(metrics.Info,
		fmt.Sprintf("the server has written its trace, in %s", time.Since(began).Round(100*time.Millisecond)))
}

func (p *profiler) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(err.Error())
}

// note keeps and logs what went wrong. The caller holds mu.
func (p *profiler) note(words string) {
	p.notes = append(p.notes, words)
	p.tell.log(metrics.Warn, words)
}

// end ends the profiling with the load; the trace is written beside what follows. It may be called again.
func (p *profiler) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.loadOver:
		return
	default:
		close(p.loadOver)
	}
	if !p.On || p.Threshold == 0 || p.begun {
		return
	}
	p.begun = true
	why := "its metrics do not say how many requests it runs, as --profile-batch-threshold needs"
	if p.seen {
		why = fmt.Sprintf("the server never ran %d requests at once, but %.0f at most; lower "+
			"--profile-batch-threshold or raise the load", p.Threshold, p.most)
	}
	p.note("the server's profiler was not started: " + why)
}

// wait waits for the trace, and tells a person so, with what time is left. It returns what went wrong.
func (p *profiler) wait(say func(string)) []string {
	p.end()
	written := make(chan struct{})
	go func() {
		p.work.Wait()
		close(written)
	}()
	wait := time.Second // shorter ones are not worth a line
	for {
		select {
		case <-written:
			p.mu.Lock()
			defer p.mu.Unlock()
			if wait == traceTold && len(p.notes) == 0 {
				say("the trace is written")
			}
			return p.notes
		case <-time.After(wait):
			wait = traceTold
			p.mu.Lock()
			since := p.writing
			p.mu.Unlock()
			if since.IsZero() {
				say("waiting for the server's profiler to start; Ctrl-C leaves")
				continue
			}
			say(fmt.Sprintf("waiting up to %s more for the server's profiler to write its trace; Ctrl-C leaves",
				(traceTimeout - time.Since(since)).Round(time.Second)))
		}
	}
}
