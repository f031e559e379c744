package calibration

import (
	"time"

	"benchtop/internal/metronome"
)

// comparison is what a client saw against what the server wrote down.
type comparison struct {
	stampError, late, connect   Quantiles
	early                       int
	ttftError                   spread
	itl, serverITL, itlMismatch spread
	chunks                      int
	unmatched                   int // requests that the log does not have, or with another number of chunks
}

// compare joins by the id. start is the wall-clock time of offset 0 of the client.
func compare(seen []Seen, log []metronome.Entry, start time.Time) comparison {
	var c comparison
	served := make(map[string]*metronome.Entry, len(log))
	for i := range log {
		served[log[i].ID] = &log[i] // of a request that was sent twice, the last one
	}
	var late, connect, errors []time.Duration
	for i := range seen {
		s := &seen[i]
		c.chunks += len(s.Chunks)
		late = append(late, s.Late)
		if s.Connect > 0 {
			connect = append(connect, s.Connect)
		}
		e := served[s.ID]
		if e == nil || len(e.Writes) != len(s.Chunks) || len(s.Chunks) == 0 {
			c.unmatched++
			continue
		}
		errors = c.join(s, e, start, errors)
	}
	c.stampError, c.late, c.connect = QuantilesOf(errors), QuantilesOf(late), QuantilesOf(connect)
	return c
}

// join adds one request and returns the errors of its stamps behind those before.
func (c *comparison) join(s *Seen, e *metronome.Entry, start time.Time, errors []time.Duration) []time.Duration {
	c.ttftError.add(micros(s.Chunks[0]) - e.Writes[0].Sub(e.Arrived))
	sent := start.Add(s.Sent)
	for i, at := range s.Chunks {
		wrong := sent.Add(micros(at)).Sub(e.Writes[i])
		if wrong < -EarlyFrom {
			c.early++
		}
		errors = append(errors, wrong)
		if i == 0 {
			continue
		}
		ours, theirs := micros(at-s.Chunks[i-1]), e.Writes[i].Sub(e.Writes[i-1])
		c.itl.add(ours)
		c.serverITL.add(theirs)
		c.itlMismatch.add(ours - theirs)
	}
	return errors
}

func micros(us int32) time.Duration { return time.Duration(us) * time.Microsecond }
