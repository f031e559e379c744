package link

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"
)

// Offset is how far another clock is ahead of this one: the truth is within Bound of Value, whatever the delays were.
type Offset struct{ Value, Bound time.Duration }

const (
	roundTrips   = 64
	roundTripFor = 2 * time.Second
)

// AnswerClock answers those who measure this clock, until it is stopped.
func AnswerClock(w Wire, subject string, now func() time.Time) (stop func(), err error) {
	return w.Handle(subject, func(string, []byte) []byte {
		return binary.BigEndian.AppendUint64(nil, uint64(now().UnixNano()))
	})
}

// MeasureClock asks the other clock 64 times and takes the quickest round trip, as NTP does (RFC 5905, sections 8 and
// 10, with both time stamps of the server being one): the other clock was read at some moment of the round trip, so its
// middle is wrong by half of the round trip at most. If an answer fails, it is content with those before it; the error
// is that of the first.
func MeasureClock(ctx context.Context, w Wire, subject string, now func() time.Time) (Offset, error) {
	best := Offset{Bound: -1}
	for range roundTrips {
		each, cancel := context.WithTimeout(ctx, roundTripFor)
		start := now()
		answer, err := w.Request(each, subject, nil)
		took := now().Sub(start)
		cancel()
		if err == nil && len(answer) != 8 {
			err = fmt.Errorf("%s answers %d bytes instead of a time", subject, len(answer))
		}
		if err != nil {
			if best.Bound < 0 {
				return Offset{}, fmt.Errorf("the clock of the other machine is unknown: %w", err)
			}
			break
		}
		if half := (took + 1) / 2; best.Bound < 0 || half < best.Bound {
			other := time.Unix(0, int64(binary.BigEndian.Uint64(answer)))
			best = Offset{Value: other.Sub(start) - took/2, Bound: half}
		}
	}
	return best, nil
}
