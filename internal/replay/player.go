// Package replay plays a finished run again: it tells a live view what the journal knows, in the order in which it happened and
// at any speed, so that the dashboard shows what it showed then. The text of single chunks, which no journal keeps, is left out.
// It draws nothing and reads no file.
//
//	journal ──New──▶ recording ──feeder──▶ live.View ──Run──▶ snapshots
//	                                ▲
//	          Play, Pause, SetSpeed, Seek: when the position goes back, a new feeder starts from the beginning
package replay

import (
	"context"
	"math"
	"sync"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

const (
	// every is how often there is a snapshot while the run is playing.
	every = 250 * time.Millisecond
	// judgeEvery is how often the answer is computed of what was played so far.
	judgeEvery = 2 * time.Second
	// longest is how long a run takes at the speed it begins with.
	longest = time.Minute
	// slowest and fastest are the limits of speeds that can be set.
	slowest, fastest = 0.1, 1e5
)

// Player plays one run. Play, Pause, SetSpeed, Seek and Look may be called from any goroutine and do not wait.
type Player struct {
	recording *recording
	spares    int           // how many
	news      chan struct{} // capacity 1: there are wishes

	mu     sync.Mutex // guards wishes
	wishes wishes
}

// wishes are what was asked for since Run looked last, but for speed and playing, which stay.
type wishes struct {
	playing, again bool // again: playing was asked for just now
	speed          float64
	seek           *time.Duration
	look           *metrics.Look
}

// New reads all events of a run. If they end with an error, the run is what came before it, unless nothing did. The player
// stands at the beginning and plays, at the run's own speed or as much faster as it takes to be through in a minute.
func New(events event.Events) (*Player, error) {
	r, err := record(events)
	if err != nil {
		return nil, err
	}
	p := &Player{recording: r, spares: min(r.count/sparedChunks, sparesMost), news: make(chan struct{}, 1)}
	p.wishes.playing, p.wishes.speed = true, math.Ceil(2*max(1, float64(r.length)/float64(longest)))/2
	return p, nil
}

// Play goes on, from the beginning if the run is at its end.
func (p *Player) Play() { p.ask(func(w *wishes) { w.playing, w.again = true, true }) }

// Pause stands still.
func (p *Player) Pause() { p.ask(func(w *wishes) { w.playing, w.again = false, false }) }

// SetSpeed plays at a multiple of the run's own speed. What is no speed is ignored.
func (p *Player) SetSpeed(speed float64) {
	if speed > 0 && !math.IsInf(speed, 1) {
		p.ask(func(w *wishes) { w.speed = min(max(speed, slowest), fastest) })
	}
}

// Seek goes to a moment of the run, or to the nearest there is.
func (p *Player) Seek(at time.Duration) {
	at = min(max(at, 0), p.recording.length)
	p.ask(func(w *wishes) { w.seek = &at })
}

// Look says what of single requests the snapshots from now on are to hold.
func (p *Player) Look(l metrics.Look) { p.ask(func(w *wishes) { w.look = &l }) }

func (p *Player) ask(change func(*wishes)) {
	p.mu.Lock()
	change(&p.wishes)
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default: // it already knows
	}
}

// asked returns the wishes and forgets those that are to be met once.
func (p *Player) asked() wishes {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.wishes
	p.wishes.again, p.wishes.seek, p.wishes.look = false, nil, nil
	return w
}

// stopped takes note that the run has come to its end, unless somebody has asked for more meanwhile.
func (p *Player) stopped() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wishes.again {
		p.wishes.playing = false
	}
}

// Run plays until ctx ends and then closes the channel. The channel holds one snapshot: a newer one replaces one that nobody
// took. At the end of the run the snapshots have its report, as soon as it is computed. Call Run once.
func (p *Player) Run(ctx context.Context) <-chan metrics.Snapshot {
	out := make(chan metrics.Snapshot, 1)
	go func() {
		defer close(out)
		s := &show{player: p, out: out, result: p.recording.summarize(ctx), spares: p.recording.spares(p.spares)}
		var beside sync.WaitGroup
		beside.Go(func() { s.spares.keep(ctx) })
		s.run(ctx)
		beside.Wait()
		<-s.result.ready // which ctx has ended
	}()
	return out
}
