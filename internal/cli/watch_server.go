package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"benchtop/export"
	"benchtop/internal/telemetry"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// watchServer reads the server's metrics page about once a second until ctx ends, and tells what it says,
// what kind of server it is, and why there is nothing, or nothing more, to say.
func (s *session) watchServer(ctx context.Context) {
	if s.side == nil {
		return
	}
	w, before := s.watch, s.before
	if w == nil {
		w = s.newWatch()
	}
	var falls restarts
	var cache cacheAlarm
	absent, source := "", metrics.Source{}
	looks, turns := 0, 0
	alarm := func() {
		totals := s.view.Totals()
		if text := cache.words(&totals, s.share(), s.load.Salt.Mode != loadgen.NoSalt); text != "" {
			s.stream.Tell(metrics.LogEntry{Level: metrics.Warn, Mark: metrics.CacheMark, Text: text})
		}
	}
	defer alarm() // the answers may tell of the cache where the page does not
	for last := false; ; {
		second, err := metrics.ServerSecond{}, error(nil)
		if before != nil {
			second, before = *before, nil
		} else {
			second, err = s.lookAtServer(ctx, w, last)
		}
		if err != nil && ctx.Err() != nil && !errors.Is(err, telemetry.ErrRestarted) { // the end of the run cut it short
			if last || absent != "" {
				return
			}
			last = true
			continue
		}
		was, known := absent, looks > 0
		absent = ""
		switch {
		case errors.Is(err, telemetry.ErrRestarted):
			if text, mark := falls.words(err); text != "" {
				s.stream.Tell(metrics.LogEntry{Level: metrics.Warn, Mark: mark, Text: text})
			}
		case err != nil:
			absent = s.side.words(err)
		}
		if absent == "" {
			looks++
			s.stream.Tell(second)
			cache.look(&second)
		}
		alarm()
		if now := (metrics.Source{Name: metrics.ServerCounters, Kind: w.Kind(), Absent: absent}); now != source {
			source = now
			s.stream.Tell(source)
		}
		if known && (absent == "") != (was == "") {
			turns++
			s.tellServer(absent, turns)
		}
		if last {
			return
		}
		select {
		case <-time.After(w.Rest()):
		case <-ctx.Done():
			last = absent == "" // once more, for what came since
			if !last {
				return
			}
		}
	}
}

func (s *session) newWatch() *telemetry.ServerWatch {
	return telemetry.NewServerWatch(s.side.client, s.side.target.URL("/metrics"))
}

// lookBefore is the first look at the server, before the load: what its counters say of the run then begins with the first
// request. A page that takes its time does not keep the run waiting; the first look comes beside the load then.
func (s *session) lookBefore() {
	if s.side == nil {
		return
	}
	w := s.newWatch()
	ctx, cancel := context.WithTimeout(context.Background(), firstLook)
	defer cancel()
	if second, err := w.Look(ctx, 0); err == nil {
		s.watch, s.before = w, &second
	}
}

// firstLook is how long the server may take for the look before the run.
const firstLook = 250 * time.Millisecond

// lastLook is how long the server may take for the look that ends the run.
const lastLook = 500 * time.Millisecond

// restarts counts how often the server's counters fell, and how often those of before came back.
type restarts struct{ falls, returns int }

// mostRestarts are told. After mostReturns it is clear that several processes answer in turn, each with counters of its own.
const (
	mostRestarts = 5
	mostReturns  = 2
)

// words say what it means that counters fell, and its mark; "" where that was told before.
func (r *restarts) words(err error) (text, mark string) {
	if r.returns >= mostReturns {
		return "", ""
	}
	r.falls++
	if errors.Is(err, telemetry.ErrReturned) {
		r.returns++
	}
	text = "the server's counters fell: it was restarted, or another one answered"
	switch {
	case r.returns == mostReturns:
		return "several processes answer for the server's metrics page in turn, each with counters of its own, so the server's totals " +
			"are missing or too small; to have them, point --base-url at one process", "in turn"
	case r.falls > mostRestarts:
		return "", ""
	case r.falls == mostRestarts:
		text += "; from here on that is not told any more"
	}
	return text, "restart"
}

func (s *session) lookAtServer(ctx context.Context, w *telemetry.ServerWatch, last bool) (metrics.ServerSecond, error) {
	limit := scrapeTimeout
	if last {
		ctx, limit = context.Background(), lastLook
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return w.Look(ctx, time.Since(s.load.Start).Round(time.Microsecond))
}

// tellServer logs that a page that was there is gone, or back, unless that has been told often.
func (s *session) tellServer(absent string, times int) {
	switch {
	case times > 2*mostRestarts:
	case absent == "":
		s.log(metrics.Info, "the server's metrics page is back")
	default:
		s.log(metrics.Warn, "no more figures: "+absent)
	}
}

// watchGPUs listens to the tool of the accelerators until ctx ends, and tells what it says, and why there
// is nothing, or nothing more.
func (s *session) watchGPUs(ctx context.Context) {
	if s.gpus.off != "" {
		s.tellGPUs(s.gpus.off)
		return
	}
	w, err := telemetry.WatchGPUs(ctx, telemetry.GPUOptions{Only: s.gpus.only, Start: s.load.Start})
	if err != nil {
		absent := export.Clean(err.Error())
		s.tellGPUs(absent)
		if s.gpus.asked() != "" {
			s.log(metrics.Warn, "nothing is known of the GPUs: "+absent)
		}
		return
	}
	defer w.Close()
	s.tellGPUs(noGPUYet)
	for first := true; ; {
		select {
		case second, more := <-w.Seconds():
			if !more {
				if err := w.Err(); err != nil && ctx.Err() == nil {
					absent := export.Clean(err.Error())
					s.tellGPUs(absent)
					s.log(metrics.Warn, fmt.Sprintf("nothing more is known of the GPUs: %s", absent))
				}
				return
			}
			if first {
				s.tellGPUs("")
				first = false
			}
			s.stream.Tell(second)
		case <-ctx.Done():
			return
		}
	}
}

// tellGPUs tells why nothing, or nothing more, is known of the accelerators; "" where something is.
func (s *session) tellGPUs(absent string) {
	s.stream.Tell(metrics.Source{Name: metrics.Accelerators, Absent: absent})
}

// noGPUYet is why there are no figures before the first ones.
const noGPUYet = "the GPUs' tool has said nothing yet"
