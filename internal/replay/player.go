// Package replay plays a finished run again: it tells a live view what the journal knows, in the order in which it
// happened and at any speed, so that the dashboard shows what it showed then. The text of single chunks, which no
// journal keeps, is left out. It draws nothing and reads no file.
//
//	journal ──New──▶ recording ──playback──▶ live.View ──Run──▶ snapshots
//	                                ▲
//	          Play, Pause, SetSpeed, Seek: when the position goes back, a new playback starts from the beginning
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

// Player plays one run. Play, Pause, SetSpeed, Seek and Inspect may be called from any goroutine and do not wait.
type Player struct {
	recording   *recording
	checkpoints int                // how many
	commands    chan func(*Player) // to the goroutine of Run, which owns everything below
	gone        chan struct{}      // closed when Run has ended

	playback *playback
	look     metrics.Inspection
	at       time.Duration // of the run
	sought   bool          // at was changed by a command
	seen     time.Time     // when at was right
	judged   time.Time
	playing  bool
	speed    float64
	finished bool // the view has the report
}

// commandsWaiting is how many commands may wait while the view catches up, which it gives up for them.
const commandsWaiting = 64

// New reads all events of a run. If they end with an error, the run is what came before it, unless nothing did. The
// player stands at the beginning and plays, at the run's own speed or as much faster as it takes to be through in a
// minute.
func New(events event.Events) (*Player, error) {
	r, err := record(events)
	if err != nil {
		return nil, err
	}
	return &Player{
		recording: r, checkpoints: min(r.count/checkpointChunks, mostCheckpoints), playback: r.playback(),
		commands: make(chan func(*Player), commandsWaiting), gone: make(chan struct{}),
		playing: true, speed: math.Ceil(2*max(1, float64(r.length)/float64(longest))) / 2,
	}, nil
}

// Play goes on, from the beginning if the run is at its end.
func (p *Player) Play() {
	p.command(func(p *Player) {
		if p.playing = true; p.at >= p.recording.length {
			p.at, p.sought = 0, true
		}
	})
}

// Pause stands still.
func (p *Player) Pause() { p.command(func(p *Player) { p.playing = false }) }

// SetSpeed plays at a multiple of the run's own speed. A value that is no speed is ignored.
func (p *Player) SetSpeed(speed float64) {
	if speed > 0 && !math.IsInf(speed, 1) {
		p.command(func(p *Player) { p.speed = min(max(speed, slowest), fastest) })
	}
}

// Seek goes to a moment of the run, or to the nearest there is.
func (p *Player) Seek(at time.Duration) {
	p.command(func(p *Player) { p.at, p.sought = min(max(at, 0), p.recording.length), true })
}

// Inspect says what of single requests the snapshots from now on are to hold.
func (p *Player) Inspect(l metrics.Inspection) {
	p.command(func(p *Player) {
		p.look = l
		p.playback.view.Inspect(l)
	})
}

func (p *Player) command(c func(*Player)) {
	select {
	case p.commands <- c:
	case <-p.gone:
	}
}

// Run plays until ctx ends and then closes the channel. The channel holds one snapshot: a newer one replaces one that
// was not taken. At the end of the run the snapshots have its report, as soon as it is computed. Call Run once.
func (p *Player) Run(ctx context.Context) <-chan metrics.Snapshot {
	out := make(chan metrics.Snapshot, 1)
	go func() {
		defer close(out)
		defer close(p.gone)
		computed, checkpoints := p.recording.summarize(ctx), p.recording.checkpoints(p.checkpoints)
		var making sync.WaitGroup
		making.Go(func() { checkpoints.keep(ctx) })
		p.play(ctx, computed, checkpoints, out)
		making.Wait()
		<-computed.ready // which ctx has ended
	}()
	return out
}

func (p *Player) play(ctx context.Context, computed *result, checkpoints *checkpoints, out chan metrics.Snapshot) {
	p.seen = time.Now()
	p.handleWaiting()
	p.advance(ctx, computed, checkpoints)
	p.put(out)
	tick := time.NewTicker(every)
	defer tick.Stop()
	ready := computed.ready
	for {
		asked := true
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			asked = false
		case c := <-p.commands:
			p.pass()
			c(p)
		case <-ready:
			ready = nil
		}
		if !p.playing && !asked {
			continue
		}
		p.pass()
		p.handleWaiting()
		if !p.advance(ctx, computed, checkpoints) {
			continue // a newer command waits
		}
		p.judge()
		p.put(out)
	}
}

// pass lets the time go by that has passed.
func (p *Player) pass() {
	now := time.Now()
	if p.playing {
		p.at += time.Duration(min(p.speed*float64(now.Sub(p.seen)), float64(p.recording.length)))
	}
	p.seen = now
	if p.at >= p.recording.length {
		p.at, p.playing = p.recording.length, false
	}
}

// handleWaiting carries out the commands that wait.
func (p *Player) handleWaiting() {
	for len(p.commands) > 0 {
		(<-p.commands)(p)
	}
}

// advance tells the view what happened until now. It returns false if it gave up because a newer command waits, or ctx
// has ended.
func (p *Player) advance(ctx context.Context, computed *result, checkpoints *checkpoints) bool {
	if f := checkpoints.nearest(p.at, p.playback); f != p.playback {
		p.playback, p.finished = f, false
		f.view.Inspect(p.look)
	}
	to, atEnd := p.at, p.at == p.recording.length
	if atEnd {
		to = endless // also what a damaged journal says of the time after its end
	}
	whole := p.playback.advance(to, func() bool { return ctx.Err() != nil || len(p.commands) > 0 })
	p.seen = time.Now() // the time that this took is not played
	if r := computed.now(); whole && atEnd && !p.finished && r != nil {
		p.playback.view.Finish(r)
		p.finished = true
	}
	return whole
}

// judge has the answer of the run so far computed, now and then.
func (p *Player) judge() {
	if now := time.Now(); !p.finished && (p.sought || now.Sub(p.judged) >= judgeEvery) {
		p.judged = now
		p.playback.view.JudgeAt(p.at)
	}
	p.sought = false
}

func (p *Player) put(out chan metrics.Snapshot) {
	s := p.playback.snapshot(p.at)
	s.Replay = &metrics.Replay{Playing: p.playing, Speed: p.speed, Length: p.recording.length}
	select {
	case <-out:
	default:
	}
	out <- s // only this goroutine sends, so there is room
}
