package replay

import (
	"context"
	"sync"
	"time"
)

const (
	// mostCheckpoints is how many playbacks stand ready along a long run, at equal distances.
	mostCheckpoints = 7
	// checkpointChunks is for how many chunks one of them is worth its memory: those that are told again in about 50
	// ms.
	checkpointChunks = 500_000
)

// checkpoints are playbacks that stand ready along a long run, since a live view cannot go back: going back takes the
// last one before the place, and another is made for it in the background. A short run needs none.
type checkpoints struct {
	recording *recording
	places    []time.Duration
	gone      chan struct{} // capacity 1: one was taken

	mu    sync.Mutex // guards ready
	ready map[time.Duration]*playback
}

func (r *recording) checkpoints(n int) *checkpoints {
	s := &checkpoints{recording: r, gone: make(chan struct{}, 1), ready: map[time.Duration]*playback{}}
	for i := range n {
		s.places = append(s.places, r.length/time.Duration(n+1)*time.Duration(i+1))
	}
	return s
}

// keep makes those that are missing, until ctx ends.
func (s *checkpoints) keep(ctx context.Context) {
	for {
		for _, place := range s.places {
			if s.has(place) {
				continue
			}
			f := s.recording.playback()
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

func (s *checkpoints) has(place time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready[place] != nil
}

// nearest returns the playback that has least to tell until a moment: the one at hand, unless it is beyond the moment
// or a checkpoint is well ahead of it, or a checkpoint, or a new one. A checkpoint is then the caller's.
func (s *checkpoints) nearest(at time.Duration, hand *playback) *playback {
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
		best = s.recording.playback()
	}
	return best
}
