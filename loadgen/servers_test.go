package loadgen

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// sharedLoad is a load for several scripted servers. A server that is nil refuses connections.
type sharedLoad struct {
	servers  []*scriptServer
	strategy Strategy
	turns    int
	limit    int // 0 for one at a time
}

// load sends n conversations and returns the requests, and how many each server got.
func (s sharedLoad) load(t *testing.T, at []time.Duration) (all []metrics.Request, got []int) {
	t.Helper()
	var book logbook
	e := perform(t, newScripted(t), &prompts{n: len(at), turns: s.turns}, &book, func(o *Options) {
		o.Servers = Servers{Strategy: s.strategy}
		for i, server := range s.servers {
			dial := func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }
			if server != nil {
				dial = server.dial
			}
			o.Add(targetOf(t, target.Options{BaseURL: fmt.Sprintf("http://model-%d.test", i), Dial: dial}))
		}
		o.Schedule, o.Limit = shape.At(at), max(1, s.limit)
	}, nil)
	got = make([]int, len(s.servers))
	for i, server := range s.servers {
		if server != nil {
			server.close()
			got[i] = server.served
		}
	}
	for _, v := range e.servers.all {
		assert.Equal(t, v.inFlight, 0, "conversations are in flight at %s after the run", v.target)
	}
	return book.all, got
}

// ending answers after a time.
func ending(after time.Duration) script {
	return func(c net.Conn, r *http.Request, b []byte) bool {
		time.Sleep(after)
		return pieces(true, 0, stream(text("a"), sseEvent(finish)))(c, r, b)
	}
}

// Several servers share the load by the strategy. A conversation stays with its server, and each request names it.
func TestServersShareTheLoad(t *testing.T) {
	const ms, down = time.Millisecond, -1
	every := func(n int, gap time.Duration) (at []time.Duration) {
		for i := range n {
			at = append(at, time.Duration(i)*gap)
		}
		return at
	}
	for _, c := range []struct {
		name   string
		takes  []time.Duration // each server for an answer; down for one that is
		shared sharedLoad
		at     []time.Duration
		want   []int // requests that each server got
		failed int
	}{
		{"in turn", []time.Duration{0, 0, 0}, sharedLoad{}, every(7, ms), []int{3, 2, 2}, 0},
		{"conversations in turn", []time.Duration{0, 0}, sharedLoad{turns: 3}, every(3, ms), []int{6, 3}, 0},
		{"in turn, one slow", []time.Duration{time.Second, 0}, sharedLoad{limit: 100}, every(20, ms), []int{10, 10}, 0},
		{"least in flight, one slow", []time.Duration{time.Second, 0}, sharedLoad{limit: 100, strategy: LeastInFlight},
			every(20, ms), []int{1, 19}, 0},
		{"least in flight, alike", []time.Duration{time.Second, time.Second},
			sharedLoad{limit: 100, strategy: LeastInFlight}, every(20, ms), []int{10, 10}, 0},
		{"in turn, one down", []time.Duration{down, 0}, sharedLoad{}, every(20, ms), []int{0, 10}, 10},
		// It is tried again once a second.
		{"least in flight, one down", []time.Duration{down, 0}, sharedLoad{limit: 100, strategy: LeastInFlight},
			every(25, 100*ms), []int{0, 22}, 3},
		{"least in flight, all down", []time.Duration{down, down}, sharedLoad{strategy: LeastInFlight}, every(4, ms),
			[]int{0, 0}, 4},
	} {
		bubble(t, c.name, func(t *testing.T) {
			for _, takes := range c.takes {
				var server *scriptServer
				if takes != down {
					server = newScripted(t, ending(takes))
				}
				c.shared.servers = append(c.shared.servers, server)
			}
			all, got := c.shared.load(t, c.at)
			counted, failed := make([]int, len(got)), 0
			place := map[int]int{}
			for _, q := range all {
				if q.Failure != "" {
					failed++
				} else {
					counted[q.Server]++
				}
				if first, ok := place[q.Conversation]; ok && first != q.Server {
					t.Errorf("conversation %d went to the servers %d and %d", q.Conversation, first, q.Server)
				}
				place[q.Conversation] = q.Server
			}
			if !slices.Equal(got, c.want) || !slices.Equal(counted, c.want) || failed != c.failed {
				t.Errorf("the servers got %v, the requests say %v, %d failed; want %v, %d", got, counted, failed,
					c.want, c.failed)
			}
		})
	}
}

// Try sends to each server, so that each is warm and ready; probes go to all.
func TestTryAsksEachServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newScripted(t, ending(0)), newScripted(t, ending(0))
		o := Defaults()
		o.Target, o.Others = one.target(), []*target.Target{two.target()}
		for i, q := range Try(t.Context(), o, turns(5), 0) {
			if !q.OK() || q.Server != i%2 {
				t.Errorf("turn %d: %q %q at server %d", i, q.Failure, q.Error, q.Server)
			}
		}
		one.close()
		two.close()
		if one.served != 3 || two.served != 2 {
			t.Errorf("%d and %d requests", one.served, two.served)
		}
	})
}

// Connections are opened ahead for each server, in equal parts; the errors of all are told.
func TestPoolsOpenAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newScripted(t, ending(0)), newScripted(t, ending(0))
		all := conn.NewPools([]*target.Target{one.target(), two.target()}, metrics.UserStamps)
		defer all.Close()
		if err := all.Open(t.Context(), 5); err != nil || one.dials != 3 || two.dials != 2 {
			t.Errorf("%v, %d and %d dials", err, one.dials, two.dials)
		}
		if s := all.Stats(); s.Open != 5 || s.Dialled != 5 || all.Peak() != 5 {
			t.Errorf("%+v", s)
		}
		all.Close()
		one.close()
		two.close()
	})
}

func TestServersAreValidated(t *testing.T) {
	one, two := newScripted(t).target(), newScripted(t).target()
	for name, change := range map[string]func(*Options){
		`strategy "x": use round-robin least-in-flight`: func(o *Options) { o.Strategy = "x" },
		"connections to 1 servers, and the load is for 2": func(o *Options) {
			o.Connections = conn.NewPools([]*target.Target{one}, "")
		},
	} {
		o := Defaults()
		o.Target, o.Others, o.Schedule = one, []*target.Target{two}, shape.Immediately()
		change(&o)
		assert.Fails(t, "servers", o.Validate(), name)
		o.Connections.Close()
	}
}
