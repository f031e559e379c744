package loadgen

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// answerOf is an answer of so many tokens, a chunk each after a pause.
func answerOf(tokens int, pause time.Duration) script {
	all := []string{streamHead}
	for range tokens {
		all = append(all, chunk(text("a")))
	}
	return pieces(true, pause, append(all, chunk(sseEvent(finish)), chunk(done), lastChunk)...)
}

// busy turns a request away.
func busy(status, retryAfter string) script {
	return func(c net.Conn, _ *http.Request, _ []byte) bool {
		_, _ = fmt.Fprintf(c, "HTTP/1.1 %s\r\n%sContent-Length: 18\r\n\r\n{\"message\":\"busy\"}", status, retryAfter)
		return true
	}
}

// A user leaves after as many tokens as were drawn, and the server sees it; the request is no failure.
func TestLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan error, 3)
		endless := func(c net.Conn, _ *http.Request, _ []byte) bool {
			_, err := io.WriteString(c, streamHead)
			for ; err == nil; _, err = io.WriteString(c, chunk(text("a"))) {
				time.Sleep(time.Second)
			}
			seen <- err
			return false
		}
		u := Users{Seed: 5, Leaving: 1}
		for i, q := range load(t, newScripted(t, endless), 3, func(o *Options) { o.Users = u }) {
			want := u.leaveAfter(&metrics.Request{Conversation: i, MaxTokens: 8})
			ends(t, &q, metrics.Abandoned, fmt.Sprintf("the user left after %d tokens", want))
			if want < 1 || want > 7 || len(q.Chunks) != want || q.OutputTokens != want || q.TTFT() != time.Second {
				t.Errorf("%d chunks, %d tokens, TTFT %s; want %d", len(q.Chunks), q.OutputTokens, q.TTFT(), want)
			}
			if err := <-seen; err == nil {
				t.Error("the server did not see that the user left")
			}
		}
		// The last token ends the answer, whoever would leave after it.
		for _, q := range load(t, newScripted(t, answerOf(1, 0)), 2, func(o *Options) { o.Users = u }) {
			if !q.OK() && q.Failure != metrics.Abandoned {
				t.Errorf("%s: %s", q.Failure, q.Error)
			}
		}
	})
}

// The share of users who leave is about what is asked for, their moments are spread over the answers, and a
// conversation has one user.
func TestWhoLeaves(t *testing.T) {
	u := Users{Seed: 1, Leaving: .05}
	leave, early, turns := 0, 0, map[int]int{}
	for i := range 20_000 {
		if n := u.leaveAfter(&metrics.Request{Conversation: i, MaxTokens: 100}); n > 0 {
			leave++
			if n <= 50 {
				early++
			}
		}
		for turn := range 4 {
			if n := u.leaveAfter(&metrics.Request{Conversation: i, Turn: turn, Turns: 4}); n > 0 {
				turns[turn]++
			}
		}
	}
	if leave < 900 || leave > 1100 || early < leave*2/5 || early > leave*3/5 {
		t.Errorf("%d of 20000 leave, %d of them in the first half", leave, early)
	}
	all := 0
	for turn := range 4 {
		if all += turns[turn]; turns[turn] < 200 || turns[turn] > 300 {
			t.Errorf("%d leave in turn %d", turns[turn], turn)
		}
	}
	assert.Equal(t, all, leave, "%d conversations are left, and %d requests of their own", all, leave)
}

// Users without a first chunk leave when their patience ends: before the header, after it, in the dial, between two
// tries. A token in time keeps them.
func TestPatience(t *testing.T) {
	for name, c := range map[string]struct {
		scripts []script
		slow    time.Duration
		at      time.Duration // of the end
		failure metrics.Failure
	}{
		"no header": {scripts: []script{hanging("")}, at: 5 * time.Second, failure: metrics.Abandoned},
		"no chunk":  {scripts: []script{hanging(streamHead)}, at: 5 * time.Second, failure: metrics.Abandoned},
		"a comment": {scripts: []script{hanging(streamHead + chunk(": ping\n\n"))}, at: 5 * time.Second,
			failure: metrics.Abandoned},
		"in time": {scripts: []script{answerOf(3, time.Second)}, at: 6 * time.Second},
		"in a pause": {scripts: []script{busy("429 Busy", "Retry-After: 20\r\n")}, at: 5 * time.Second,
			failure: metrics.Abandoned},
		"second try": {scripts: []script{busy("429 Busy", "Retry-After: 2\r\n"), hanging("")}, at: 5 * time.Second,
			failure: metrics.Abandoned},
		"slow server": {scripts: []script{hanging("")}, slow: 2 * time.Second, at: 7 * time.Second,
			failure: metrics.Abandoned},
	} {
		bubble(t, name, func(t *testing.T) {
			s := newScripted(t, c.scripts...)
			s.slow = c.slow
			q := load(t, s, 1, func(o *Options) {
				o.Users = Users{Patience: 5 * time.Second, Tries: 3, Trying: time.Minute}
			})[0]
			words := "no token came within 5s"
			if c.failure == "" {
				words = ""
			}
			if ends(t, &q, c.failure, words); q.Done != c.at || q.OutputTokens > 3 {
				t.Errorf("ended at %s, want %s", q.Done, c.at)
			}
		})
	}
}

// Users try again after 429, 503 and a refused connection, with pauses of their own that grow, or as long as they are
// asked to; latencies count from the first try.
func TestRetries(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	whole := answerOf(2, time.Second)
	const sec, own, failed = time.Second, 3500 * time.Millisecond, metrics.FailedStatus
	for name, c := range map[string]struct {
		scripts      []script
		refuse       error
		failure      metrics.Failure
		words        string
		retries      metrics.Tallies
		served       int
		least, most  time.Duration // of the pauses together
		failedStatus int
	}{
		"no need": {scripts: []script{whole}, served: 1},
		"asked": {scripts: []script{busy("429 Busy", "Retry-After: 3\r\nX-Pod: a\r\n"), whole}, served: 2,
			retries: metrics.Tallies{metrics.TooManyRequests: 1}, least: 3 * sec, most: 3 * sec},
		"a date": {scripts: []script{busy("503 Busy", "Retry-After: Sat, 01 Jan 2000 00:00:07 GMT\r\n"), whole},
			served: 2, retries: metrics.Tallies{metrics.Unavailable: 1}, least: 7 * sec, most: 7 * sec},
		"own": {scripts: []script{busy("429 Busy", ""), busy("503 Busy", ""), busy("429 Busy", ""), whole}, served: 4,
			retries: metrics.Tallies{metrics.TooManyRequests: 2, metrics.Unavailable: 1}, least: own * 3 / 4,
			most: own},
		"refused": {refuse: refused, scripts: []script{whole}, served: 1, retries: metrics.Tallies{metrics.Refused: 1},
			least: 375 * time.Millisecond, most: 500 * time.Millisecond},
		"for ever": {scripts: []script{busy("429 Busy", "")}, served: 4, failure: failed,
			retries: metrics.Tallies{metrics.TooManyRequests: 3},
			words:   "busy (gave up after 4 tries)", least: own * 3 / 4, most: own, failedStatus: 429},
		"too late": {scripts: []script{busy("503 Busy", "Retry-After: 3600\r\n")}, served: 1, failure: failed,
			words: "busy (gave up: a try in 1h0m0s would be later than 20s after the first)", failedStatus: 503},
		"no": {scripts: []script{busy("500 Broken", "Retry-After: 1\r\n")}, served: 1, failure: failed, words: "busy",
			failedStatus: 500},
	} {
		bubble(t, name, func(t *testing.T) {
			s := newScripted(t, c.scripts...)
			s.refuse = c.refuse
			var book logbook
			perform(t, s, &prompts{n: 1}, &book, func(o *Options) {
				o.Users, o.GroupHeaders = Users{Tries: 4, Trying: 20 * time.Second}, []string{"X-Pod"}
			}, nil)
			q := book.all[0]
			ends(t, &q, c.failure, c.words)
			if q.Served != nil {
				t.Errorf("served by %q, which only refused it", q.Served)
			}
			if q.Tallies != c.retries || s.served != c.served || book.sent != 1 || q.Sent != 0 {
				t.Errorf("retries %v, %d served, sent %d times at %s", q.Tallies, s.served, book.sent, q.Sent)
			}
			paused := q.LastTry
			if c.failure == "" && q.Retries() > 0 {
				if q.TTFT() != q.LastTry+time.Second || q.OfLastTry().TTFT() != time.Second || q.Status != 200 {
					t.Errorf("TTFT %s, of the last try %s", q.TTFT(), q.OfLastTry().TTFT())
				}
			} else if q.Retries() == 0 {
				paused = 0
			}
			if paused < c.least || paused > c.most || c.failedStatus > 0 && q.Status != c.failedStatus {
				t.Errorf("paused for %s, want %s to %s; status %d", paused, c.least, c.most, q.Status)
			}
			if bodies := slices.Compact(slices.Clone(s.bodies)); len(bodies) != 1 || bodies[0] == "" {
				t.Errorf("bodies %q", bodies)
			}
		})
	}
}

// The end of a run cuts a pause, and no pause outlives a run that drains for less, or the end of a load by more than
// the time for a drain.
func TestRetriesAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := loadFrom(t, newScripted(t, busy("429 Busy", "Retry-After: 1000\r\n")), &prompts{n: 1}, func(o *Options) {
			o.Users = Users{Tries: 4, Trying: time.Hour}
		}, func(e *Engine) { time.AfterFunc(3*time.Second, func() { e.Drain(2 * time.Second) }) })[0]
		if ends(t, &q, metrics.Cancelled, "cut by the end"); q.Done != 5*time.Second {
			t.Error(q.Done)
		}
		for _, until := range []time.Duration{3 * time.Second, 0} {
			q = load(t, newScripted(t, busy("429 Busy", "Retry-After: 2\r\n")), 1, func(o *Options) {
				o.Users, o.Drain = Users{Tries: 100, Trying: time.Hour}, 2*time.Second
				o.Until, o.SteeredUntil = until, 3*time.Second-until
			})[0]
			if ends(t, &q, metrics.FailedStatus, "busy (gave up: the load was over for 2s)"); q.Done != 5*time.Second {
				t.Error(q.Done)
			}
		}
	})
}

// A user who reads slowly has chunks at that rate, whenever they came; other users do not notice.
func TestReadRate(t *testing.T) {
	for name, u := range map[string]Users{"tokens": {TokenRate: 2}, "bytes": {ByteRate: 400}} {
		bubble(t, name, func(t *testing.T) {
			s := newScripted(t, answerOf(6, time.Millisecond))
			var book logbook
			perform(t, s, &prompts{n: 2}, &book, func(o *Options) {
				o.Users, o.StallTimeout = u, time.Second // shorter than the reading
			}, nil)
			for i := range book.all {
				q := &book.all[i]
				if ends(t, q, "", ""); q.TTFT() > time.Second {
					t.Errorf("TTFT %s", q.TTFT())
				}
				if len(q.Chunks) != 7 || q.Done > 20*time.Second || q.ReadDelay != metrics.Never {
					t.Fatalf("%d chunks, done at %s", len(q.Chunks), q.Done)
				}
				for k := 1; k < len(q.Chunks); k++ {
					if gap := q.Gap(k); name == "tokens" && gap != 500*time.Millisecond ||
						name == "bytes" && (gap < 50*time.Millisecond || gap > time.Second) {
						t.Errorf("gap %d is %s", k, gap)
					}
				}
			}
			assert.Equal(t, book.all[0].E2EL(), book.all[1].E2EL(), "E2EL of both")
		})
	}
}

// A slow user is cut with the run.
func TestReadRateIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := loadFrom(t, newScripted(t, answerOf(6, 0)), &prompts{n: 1}, func(o *Options) {
			o.Users = Users{TokenRate: .1}
		}, func(e *Engine) { time.AfterFunc(3*time.Second, e.Abort) })[0]
		if ends(t, &q, metrics.Cancelled, "cut by the end"); q.Done != 3*time.Second || len(q.Chunks) != 1 {
			t.Errorf("%d chunks, done at %s", len(q.Chunks), q.Done)
		}
	})
}

// Warm-ups and probes are of no user.
func TestNoUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, busy("429 Busy", ""))
		o := Defaults()
		o.Target, o.Users = s.target(), Users{Leaving: 1, Patience: 1, Tries: 9, Trying: time.Hour}
		turn, _ := (&prompts{n: 1}).Next()
		q := Try(t.Context(), o, turn.Turns, 1)[0]
		if s.close(); s.served != 1 || q.Failure != metrics.FailedStatus {
			t.Errorf("%d served, %s", s.served, q.Failure)
		}
	})
}

// Pauses grow up to a bound, and chance shortens them by a quarter at most.
func TestRetryPause(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for tries, most := range []float64{1: .5, 2: 1, 3: 2, 4: 4, 5: 8, 6: 8, 99: 8} {
		if most == 0 {
			continue
		}
		for range 100 {
			if got := retryPause(tries, 0, r.Float64()).Seconds(); got > most || got < .75*most {
				t.Errorf("%d tries: %gs", tries, got)
			}
		}
	}
	if got := retryPause(3, time.Minute, .5); got != time.Minute {
		t.Error(got)
	}
}

// Any header gives a time of none to a year.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "1", "0.5", "-3", "NaN", "inf", "1e300", "Sat, 01 Jan 2000 00:00:07 GMT", "soon"} {
		f.Add(s)
	}
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if d := readRetryAfter(s, now); d < 0 || d > 366*24*time.Hour {
			t.Errorf("%q: %s", s, d)
		}
	})
}
