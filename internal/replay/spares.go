package replay

import (
	"context"
	"sync"
	"time"
)

const (
	// sparesMost is how many feeders stand ready along a long run, at equal distances.
	sparesMost = 7
	// sparedChunks is for how many chunks one of them is worth its memory: those that are told again in about 50 ms.
	sparedChunks = 500_000
)

// spares are feeders that stand ready along a long run, since a live view cannot go back: going back takes the last one
// before the place, and another is made for it in the background. A short run needs none.
type spares struct {
	recording *recording
	places    []time.Duration
	gone      chan struct{} // capacity 1: one was taken

	mu    sync.Mutex // guards ready
	ready map[time.Duration]*feeder
}

func (r *recording) spares(n int) *spares {
	s := &spares{recording: r, gone: make(chan struct{}, 1), ready: map[time.Duration]*feeder{}}
	for i := range n {
		s.places = append(s.places, r.length/time.Duration(n+1)*time.Duration(i+1))
	}
	return s
}

// keep makes those that are missing, until ctx ends.
func (s *spares) keep(ctx context.Context) {
	for {
		for _, place := range s.places {
			if s.has(place) {
				continue
			}
			f := s.recording.feeder()
			if !f.advance(place, func() bool { return ctx.Err() != nil }) {
				return
			}
			s.mu.Lock()
			s.ready[place] = f
			s.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return
		case <-s.gone:
		}
	}
}

func (s *spares) has(place time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready[place] != nil
}

// nearest returns the feeder that has least to tell until a moment: the one at hand, unless it is beyond the moment or a
// spare is well ahead of it, or a spare, or a new one. A spare is then the caller's.
func (s *spares) nearest(at time.Duration, hand *feeder) *feeder {
	best := hand
	if hand.at > at {
		best = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.places) - 1; i >= 0; i-- {
		place := s.places[i]
		if place > at || s.ready[place] == nil {
			continue
		}
		if best == nil || place-best.at > s.places[0]/2 {
			best = s.ready[place]
			delete(s.ready, place)
			select {
			case s.gone <- struct{}{}:
			default: // it already knows
			}
		}
		break
	}
	if best == nil {
		best = s.recording.feeder()
	}
	return best
}
