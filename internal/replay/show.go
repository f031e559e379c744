package replay

import (
	"context"
	"time"

	"benchtop/metrics"
)

// show is a player at work. One goroutine owns it.
type show struct {
	player *Player
	out    chan metrics.Snapshot
	result *result
	spares *spares

	feeder   *feeder
	look     metrics.Look
	at       time.Duration // of the run
	seen     time.Time     // when at was right
	judged   time.Time
	playing  bool
	speed    float64
	finished bool // the view has the report
}

func (s *show) run(ctx context.Context) {
	s.feeder, s.seen = s.player.recording.feeder(), time.Now()
	s.follow()
	s.feed(ctx)
	s.put()
	tick := time.NewTicker(every)
	defer tick.Stop()
	ready := s.result.ready
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.player.news:
			asked = true
		case <-ready:
			ready = nil
			asked = true
		}
		if !s.playing && !asked {
			continue
		}
		sought := s.move()
		if !s.feed(ctx) {
			continue // something newer was asked for: it is in news
		}
		s.judge(sought)
		s.put()
	}
}

// move goes to where the run is now: where it has played to, or where it was asked to go, which it says.
func (s *show) move() (sought bool) {
	now := time.Now()
	if s.playing {
		s.at += time.Duration(min(s.speed*float64(now.Sub(s.seen)), float64(s.length())))
	}
	s.seen = now
	sought = s.follow()
	if s.at >= s.length() {
		s.at = s.length()
		s.playing = false
		s.player.stopped()
	}
	return sought
}

// follow does what was asked for, and says whether the place was changed by it.
func (s *show) follow() (sought bool) {
	w := s.player.asked()
	s.speed = w.speed
	if w.again && s.at >= s.length() && w.seek == nil {
		s.at, sought = 0, true
	}
	if w.seek != nil {
		s.at, sought = *w.seek, true
	}
	s.playing = w.playing
	if w.look != nil {
		s.look = *w.look
		s.feeder.view.Look(s.look)
	}
	return sought
}

func (s *show) length() time.Duration { return s.player.recording.length }

// feed tells the view what happened until now. It returns false if it gave up because something newer was asked for, or
// ctx has ended.
func (s *show) feed(ctx context.Context) bool {
	if f := s.spares.nearest(s.at, s.feeder); f != s.feeder {
		s.feeder, s.finished = f, false
		f.view.Look(s.look)
	}
	to := s.at
	if to == s.length() {
		to = endless // also what a damaged journal says of the time after its end
	}
	whole := s.feeder.advance(to, func() bool { return ctx.Err() != nil || len(s.player.news) > 0 })
	s.seen = time.Now() // what feeding took is not played
	if r := s.result.now(); whole && s.at == s.length() && !s.finished && r != nil {
		s.feeder.view.Finish(r)
		s.finished = true
	}
	return whole
}

// judge has the answer of the run so far computed, now and then.
func (s *show) judge(sought bool) {
	if now := time.Now(); !s.finished && (sought || now.Sub(s.judged) >= judgeEvery) {
		s.judged = now
		s.feeder.view.JudgeAt(s.at)
	}
}

func (s *show) put() {
	v := s.feeder.snapshot(s.at)
	v.Replay = &metrics.Replay{Playing: s.playing, Speed: s.speed, Length: s.length()}
	select {
	case <-s.out:
	default:
	}
	s.out <- v // only this goroutine sends, so there is room
}
