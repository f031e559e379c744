package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"benchtop/export"
	"benchtop/internal/run/watch"
	"benchtop/internal/text"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// Outcome is how a run ended.
type Outcome struct {
	Report metrics.Report
	Path   string // where the result is, "" for nowhere
	Err    error  // of the prompts, the journal or the saving
	Saved  bool   // nothing that should be on disk is missing
	// Warnings say what else went wrong by then.
	Warnings []string
	beside   func() Beside
}

// Beside are the other files that were written, with why one was not.
type Beside struct{ Paths, Warnings []string }

// Beside waits for what is written after the result: pictures, and the journal in fewer bytes.
func (o *Outcome) Beside() Beside {
	if o.beside == nil {
		return Beside{}
	}
	return o.beside()
}

// Do runs the load and saves the result; it needs no screen. A bug on the way must not leave the terminal as it is, nor
// lose what the journal has.
func (r *Run) Do() (o Outcome) {
	go r.own()
	defer close(r.saved)
	defer func() {
		r.do(loadOver) // where a bug was quicker
		r.do(saved)
	}()
	defer func() {
		if bug := recover(); bug != nil {
			o.Err = fmt.Errorf("benchtop failed while finishing the run: %v; %s\n%s", bug, r.Flush(), debug.Stack())
			o.Saved, o.Report.Conclusion = false, metrics.RunFailed
		}
	}()
	end, err := r.measure()
	r.countAnswers()
	r.stream.Tell(end)
	o = r.keep()
	o.Err = errors.Join(err, o.Err)
	if o.Err != nil || !o.Saved {
		o.Report.Conclusion = max(o.Report.Conclusion, metrics.RunFailed)
	}
	r.view.Finish(&o.Report)
	result := o
	o.beside = sync.OnceValue(func() (b Beside) {
		if bug := caught(func() { b = r.writeBeside(&result) }); bug != nil {
			b.Warnings = append(b.Warnings, fmt.Sprintf("benchtop failed beside the result: %v", bug))
		}
		return b
	})
	go o.beside()
	return o
}

// measure runs the load to its end, and says how that was.
func (r *Run) measure() (end metrics.End, err error) {
	watching, stop := context.WithCancel(context.Background())
	defer stop()
	watchers := r.watch(watching)
	token := r.config.Load.Target.Token()
	token.Tell(r.tokenMissing)
	defer token.Tell(nil)
	r.must(r.load.Begin)
	err = r.engine.Run(context.Background(), r.config.Prompts)
	r.must(func() { r.step(loadOver) })
	stop()
	r.config.Drawn()
	watchers.Wait()
	token.Stop(tokenPatience)
	r.must(func() {
		end = r.soFar()
		end.Reason = r.reason
	})
	if end.Reason == "" && err != nil {
		end.Reason = err.Error()
	}
	end.Ended = r.engine.Ended()
	if f := r.config.Fleet; f != nil {
		f.Finish(&end)
	}
	if r.config.Load.ProbeRate > 0 && r.config.Fleet == nil {
		end.Probes = new(r.engine.Probes())
	}
	if r.config.Server != nil {
		for _, n := range r.config.Server.End(&end) {
			r.Log(metrics.Warn, n)
		}
	}
	return end, err
}

// tokenPatience is how long a token that was refused at the end of a run is still asked for, to say why there is none.
const tokenPatience = time.Second

// tokenMissing logs why there is no other token, as servers may refuse the one there is.
func (r *Run) tokenMissing(err error) {
	words := "no new token: " + text.Clean(r.config.Load.Target.Hide(err.Error())) + "; the old one stays in use"
	r.stream.Tell(metrics.LogEntry{Level: metrics.Warn, Text: words, Mark: metrics.TokenMark})
	if t := r.config.Terminal; !t.Drawn() {
		t.Announce(words)
	}
}

// watch starts all that watches the run until ctx ends.
func (r *Run) watch(ctx context.Context) *sync.WaitGroup {
	c := &r.config
	tell := watch.Tell(r.stream.Tell)
	client := watch.NewClient(r.start, c.Plan.Part.K, c.Load.Connections, r.view)
	var all sync.WaitGroup
	if c.Fleet == nil && !c.Unwatched { // each machine watches itself
		all.Go(func() { client.Watch(ctx, tell) })
	}
	all.Go(func() { c.GPUs.Watch(ctx, r.start, tell) })
	all.Go(func() { r.watchJournal(ctx) })
	all.Go(func() { r.judgeLive(ctx) })
	if c.Answers != nil {
		all.Go(func() {
			c.Answers.Beside(ctx, r.sending.Done(), r.start, r.view, func(a metrics.AnswerCheck) { r.stream.Tell(a) })
		})
	}
	if c.Server != nil {
		traits := c.Load.Protocol.Traits()
		cache := &watch.Cache{
			View: r.view, Share: knownShare(&traits, c.Share), Templates: traits.Templates,
			Counted: c.Plan.InputSource != metrics.TokensFromEstimate, Cold: c.Plan.Cache != "",
		}
		all.Go(func() { c.Server.Watch(ctx, r.start, cache, tell) })
	}
	return &all
}

// knownShare is the share that prompts have in common, and 1 where the model reads something else: a query before each
// document, or a recording.
func knownShare(of *protocol.Traits, share func(template float64) float64) func(template float64) float64 {
	if of.Only == "" {
		return share
	}
	return func(float64) float64 { return 1 }
}

// soFar is how the run would end now, but for when and why. It is the owner's.
func (r *Run) soFar() metrics.End {
	return metrics.End{Stamps: new(r.view.Stamps()), Unsent: r.unsent(r.view.Totals().Due)}
}

// unsent is how many requests of the plan have not become due; 0 where its clock ends the run and the load was set,
// since then it is not known how many there were to be.
func (r *Run) unsent(due int) int {
	if r.config.Plan.Duration > 0 && r.load.Changed() {
		return 0
	}
	return max(0, r.config.Plan.Share()-due)
}

// keep computes the report and saves it.
func (r *Run) keep() (o Outcome) {
	o.Saved = true
	var problems []error
	_ = r.journal.Flush()
	var closing sync.WaitGroup
	closing.Go(func() { _ = r.journal.Close() }) // finish saves whatever the file lacks; the disk may take its time
	var err error
	if o.Report, err = r.fold.Report(r.journal.Source()); err != nil && o.Report.Plan.Started.IsZero() {
		o.Report.Plan = r.config.Plan // another program cut the journal; the plan is known all the same
	}
	closing.Wait()
	problems = append(problems, err)
	if f := r.config.Files; f != nil {
		if o.Path, err = f.Finish(o.Report, r.journal, r.config.LastResort); err != nil {
			problems = append(problems, fmt.Errorf("saving: %w", err))
		}
		o.Saved = o.Path == f.Path
		o.Warnings = f.Notes()
		problem := "see the report"
		if o.Saved {
			problem = ""
		}
		r.stream.Tell(metrics.Saving{Path: o.Path, Problem: problem})
	}
	if unseen := export.MissingGPUs(&o.Report); unseen != "" {
		o.Warnings = append(o.Warnings, unseen)
	}
	o.Err = errors.Join(problems...)
	return o
}

// writeBeside writes what nobody waits for.
func (r *Run) writeBeside(o *Outcome) (b Beside) {
	b.Paths, b.Warnings = r.config.Pictures(o.Report, r.journal.Events(), o.Path)
	if f := r.config.Files; f != nil && o.Saved {
		if err := f.Pack(r.journal); err != nil {
			b.Warnings = append(b.Warnings, err.Error())
		}
	}
	return b
}

// watchJournal tells when the journal cannot be written, and when it can be again.
func (r *Run) watchJournal(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for failing, over := false, false; !over; {
		select {
		case <-ctx.Done():
			over = true
			_ = r.journal.Flush() // so that the last word is true
		case <-tick.C:
		}
		err := r.journal.Err()
		switch {
		case err != nil && !failing:
			r.stream.Tell(metrics.Saving{Problem: err.Error()})
			r.announce(metrics.Error, "the journal cannot be written; the run continues in memory: "+err.Error())
		case err == nil && failing:
			r.stream.Tell(metrics.Saving{Path: r.config.Files.Path})
			r.announce(metrics.Info, "the journal is written again; nothing is missing")
		}
		failing = err != nil
	}
}

// judgeLive keeps the answer of the run so far up to date while a dashboard or another terminal shows it.
func (r *Run) judgeLive(ctx context.Context) {
	tick := time.NewTicker(judgeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if r.config.Terminal.Drawn() || r.host.Viewers() > 0 {
				r.view.Judge()
			}
		}
	}
}
