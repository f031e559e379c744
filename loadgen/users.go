package loadgen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"benchtop/loadgen/conn"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// Users are the habits of users. The zero value are those who wait for whole answers, try once and read at once.
// Requests of Try and probes are of no user.
type Users struct {
	// Seed of the draws, which are the same whatever else a run draws, and in whatever order its requests come.
	Seed int64
	// Leaving is the share of the users, of 1, who hang up once, after a part of an answer.
	Leaving float64
	// Patience is the longest time without a first chunk, counted as TTFT, before a user leaves; 0 for no limit.
	Patience time.Duration
	// Tries is the most tries of a request that the server turns away for now, 0 or 1 for one. All tries begin within
	// Trying of the first.
	Tries  int
	Trying time.Duration
	// TokenRate and ByteRate are how much of an answer a user reads in a second; 0 for all that there is.
	TokenRate, ByteRate float64
}

// readBuffer is how many bytes the kernel keeps for a user who reads slowly, so that the server waits for them too.
const readBuffer = 4 << 10

// usualAnswer is the length in tokens over which users leave where a request asks for no length.
const usualAnswer = 256

// Streams of draws, apart from each other and from those of prompts and arrivals.
const (
	leavingDraws = 0x6c65617665 << iota
	retryDraws
)

func (u *Users) draws(stream uint64, number int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(u.Seed)^stream, uint64(number)))
}

// slow reports whether answers are read at a rate.
func (u *Users) slow() bool { return u.TokenRate > 0 || u.ByteRate > 0 }

// leaveAfter is the number of tokens after which the user of a request leaves, 0 for one who stays. A conversation has
// one user, who leaves in one of its turns.
func (u *Users) leaveAfter(q *metrics.Request) int {
	if u.Leaving <= 0 {
		return 0
	}
	draws := u.draws(leavingDraws, q.Conversation)
	length := q.MaxTokens
	if length <= 0 {
		length = usualAnswer
	}
	if leaves := draws.Float64() < u.Leaving; !leaves || draws.IntN(max(1, q.Turns)) != q.Turn {
		return 0
	}
	return 1 + draws.IntN(max(1, length-1))
}

// Pauses before another try: the first, doubled with each try up to the longest, less up to a quarter by chance. The
// figures are those of the OpenAI client for Python 1.0 and later (_base_client.py, _calculate_retry_timeout).
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 8 * time.Second
	pauseJitter  = 0.25
)

// retryPause is the time before the try after so many: what the server asks for, or else the user's own, with a draw
// from 0 to 1.
func retryPause(tries int, asked time.Duration, draw float64) time.Duration {
	if asked > 0 {
		return asked
	}
	own := min(firstPause<<min(tries-1, 10), longestPause)
	return time.Duration(float64(own) * (1 - pauseJitter*draw))
}

// readRetryAfter reads the header Retry-After (RFC 9110, section 10.2.3): seconds, or a date. It is 0 for none, for one
// that cannot be read, and for the past.
func readRetryAfter(value string, now time.Time) time.Duration {
	const most = 365 * 24 * time.Hour
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if !(seconds > 0) {
			return 0
		}
		return time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, at.Sub(now)), most)
	}
	return 0
}

// habits are the state of the user of an exchange.
type habits struct {
	active     bool // the user has habits
	leaveAfter int
	had        int           // tokens so far
	leaves     time.Time     // by patience; the zero time for never
	first      time.Time     // begin of the first try
	asked      time.Duration // by Retry-After
	tries      *rand.Rand    // draws of the pauses; nil before the first
	reading    time.Time     // until then the user reads what came
}

// beginUser begins the first try.
func (x *exchange) beginUser() {
	u, q := &x.engine.options.Users, x.q
	if x.user = (habits{}); *u == (Users{}) || q.Index < 0 {
		return
	}
	x.user = habits{active: true, leaveAfter: u.leaveAfter(q), first: time.Now()}
	if u.Patience > 0 {
		x.user.leaves = x.user.first.Add(u.Patience)
	}
}

// until is when a wait for the server ends: at the deadline, or with the patience of the user.
func (x *exchange) until() time.Time {
	if t := x.user.leaves; !t.IsZero() && x.q.FirstChunk == metrics.Never && t.Before(x.deadline) {
		return t
	}
	return x.deadline
}

// userSent notes that a try was sent on a connection.
func (x *exchange) userSent(c *conn.Conn, sent time.Duration) {
	u, q := &x.engine.options.Users, x.q
	if q.LastTry == metrics.Never && q.Retries() > 0 {
		q.LastTry = sent
	}
	if u.Patience > 0 && q.Sent != metrics.Never {
		x.user.leaves = x.engine.clock.Start.Add(q.Sent + u.Patience)
		c.Expire(x.until(), 0)
	}
	if u.slow() {
		c.SetReadBuffer(readBuffer)
	}
}

// impatient reports whether the user has left without a first chunk.
func (x *exchange) impatient() bool {
	t := x.user.leaves
	return !t.IsZero() && x.q.FirstChunk == metrics.Never && !time.Now().Before(t)
}

// leaveUnanswered ends a request without a chunk.
func (x *exchange) leaveUnanswered() {
	x.fail(metrics.Abandoned, fmt.Sprintf("the user left: no token came within %s", x.engine.options.Users.Patience))
}

// userTakes takes a chunk as its user does: when the one before is read, and perhaps as the last.
func (x *exchange) userTakes(m *protocol.Message) error {
	u, h := &x.engine.options.Users, &x.user
	if u.slow() && !x.catchUp() {
		return errStop
	}
	x.chunk(m)
	tokens := int(x.q.Chunks[len(x.q.Chunks)-1].Tokens)
	if u.TokenRate > 0 {
		h.reading = h.reading.Add(time.Duration(float64(tokens) / u.TokenRate * float64(time.Second)))
	}
	if h.had += tokens; h.leaveAfter > 0 && h.had >= h.leaveAfter && !x.over() {
		x.fail(metrics.Abandoned, fmt.Sprintf("the user left after %d tokens", h.had))
		return errStop
	}
	return nil
}

// userReads takes a piece of an answer at the user's rate; false if the run cut the request meanwhile.
func (x *exchange) userReads(bytes int) bool {
	rate := x.engine.options.Users.ByteRate
	if rate <= 0 || !x.user.active {
		return true
	}
	ok := x.catchUp()
	x.user.reading = x.user.reading.Add(time.Duration(float64(bytes) / rate * float64(time.Second)))
	return ok
}

// catchUp waits until the user has read what came before; false if the run cut the request meanwhile. What comes next
// is read now, whenever it arrived.
func (x *exchange) catchUp() bool {
	wait := time.Until(x.user.reading)
	if !rest(x.engine.cutting, wait) {
		x.broken(metrics.FailedReset, nil)
		return false
	}
	now := time.Now()
	x.at, x.delay = x.engine.clock.At(now), metrics.Never
	switch {
	case wait <= 0:
		x.user.reading = now
	case x.q.FirstChunk != metrics.Never:
		x.received = x.at // the server did not stall
	}
	return true
}

// rest waits; false if ctx ends meanwhile.
func rest(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// givesUp adds to the server's words that its user tries no more, and why.
func (x *exchange) givesUp(format string, args ...any) {
	x.q.Error = protocol.Clip(metrics.ErrorMessage(x.q.Error) + " (gave up" + fmt.Sprintf(format, args...) + ")")
}

// turnedAway are the reasons for another try by the status of an answer.
var turnedAway = map[int]int{
	http.StatusTooManyRequests: metrics.TooManyRequests, http.StatusServiceUnavailable: metrics.Unavailable,
}

// again waits as the user does before another try; false where there is none. The outcome is then that of the last try,
// or that the user left.
func (x *exchange) again() bool {
	u, q, h := &x.engine.options.Users, x.q, &x.user
	reason, ok := turnedAway[q.Status]
	switch q.Failure {
	case metrics.FailedStatus:
	case metrics.FailedConnect:
		reason, ok = metrics.Refused, errors.Is(x.problem, syscall.ECONNREFUSED)
	default:
		ok = false
	}
	if tries := 1 + q.Retries(); !ok || !h.active || u.Tries < 2 {
		return false
	} else if tries >= u.Tries {
		x.givesUp(" after %d tries", tries)
		return false
	}
	if h.tries == nil {
		h.tries = u.draws(retryDraws, q.Index)
	}
	wait := retryPause(1+q.Retries(), h.asked, h.tries.Float64())
	if time.Since(h.first)+wait > u.Trying {
		x.givesUp(": a try in %s would be later than %s after the first", wait.Round(time.Millisecond), u.Trying)
		return false
	}
	left := false
	if t := h.leaves; !t.IsZero() && time.Now().Add(wait).After(t) {
		wait, left = time.Until(t), true
	}
	switch over := !rest(x.engine.trying, wait); {
	case over && x.engine.cutting.Err() == nil:
		x.givesUp(": the load was over for %s", x.engine.options.Drain)
		return false
	case over:
		x.broken(metrics.FailedReset, nil)
		return false
	case left:
		x.leaveUnanswered()
		return false
	}
	q.Tallies[reason]++
	x.sentAt(x.engine.clock.At(h.first)) // where no byte went out
	q.Failure, q.Error, q.Status, q.LastTry, q.Served = "", "", 0, metrics.Never, nil
	h.asked, x.problem = 0, nil
	return true
}
