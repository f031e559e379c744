package loadgen

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"benchtop/loadgen/conn"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
)

// Strategy is the rule by which several servers share the load.
type Strategy string

// The strategies.
const (
	// RoundRobin gives each server every n-th conversation.
	RoundRobin Strategy = "round-robin"
	// LeastInFlight gives a conversation to the server with the fewest in flight.
	LeastInFlight Strategy = "least-in-flight"
)

// Strategies are all of them, the default first.
func Strategies() []Strategy { return []Strategy{RoundRobin, LeastInFlight} }

// server is one of the servers of a run.
type server struct {
	target *target.Target
	pool   *conn.Pool
	header *conn.Header

	inFlight int       // conversations
	suspect  time.Time // no connection came about; zero if the last one did
}

// servers share the load of a run. A conversation stays with its server, where its prefix is cached.
type servers struct {
	all      []*server
	strategy Strategy
	mu       sync.Mutex // guards inFlight and suspect of all
}

func newServers(o *Options, traits protocol.Traits) (*servers, conn.Pools) {
	targets := append([]*target.Target{o.Target}, o.Others...)
	pools := o.Connections
	if pools == nil {
		pools = conn.NewPools(targets, o.Timestamps)
	}
	s := &servers{strategy: o.Strategy}
	for i, t := range targets {
		s.all = append(s.all, &server{target: t, pool: pools[i], header: conn.NewHeader(t, o.Endpoint, traits.ContentType, traits.Header...)})
	}
	return s, pools
}

// checkServers is an error if the servers cannot share the load.
func (o *Options) checkServers() error {
	if o.Strategy != "" && !slices.Contains(Strategies(), o.Strategy) {
		return fmt.Errorf("strategy %q: use %s", o.Strategy, strings.Trim(fmt.Sprint(Strategies()), "[]"))
	}
	if o.Connections != nil && len(o.Connections) != 1+len(o.Others) {
		return fmt.Errorf("connections to %d servers, and the load is for %d", len(o.Connections), 1+len(o.Others))
	}
	return nil
}

// retryAfter is the time for which a server without a connection gets no conversation, so that the one with the fewest in flight is not
// the one that fails at once.
const retryAfter = time.Second

// take gives a conversation its server, until release. Only its number decides in round robin, so that a run can be repeated.
func (s *servers) take(conversation int) int {
	n := len(s.all)
	if n == 1 {
		return 0
	}
	i := conversation % n
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.strategy == LeastInFlight {
		i = s.least(i)
	}
	s.all[i].inFlight++
	return i
}

// least is the server with the fewest in flight, of equal ones the first from a place on. One that could not be reached is tried once a
// second.
func (s *servers) least(from int) int {
	now, best, bestOut := time.Now(), -1, false
	for k := range s.all {
		i := (from + k) % len(s.all)
		v := s.all[i]
		out := !v.suspect.IsZero() && (v.inFlight > 0 || now.Sub(v.suspect) < retryAfter)
		if best < 0 || bestOut && !out || out == bestOut && v.inFlight < s.all[best].inFlight {
			best, bestOut = i, out
		}
	}
	return best
}

// release ends a conversation. reached says whether its last request got a connection.
func (s *servers) release(i int, reached bool) {
	if len(s.all) == 1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.all[i]
	v.inFlight--
	if v.suspect = (time.Time{}); !reached {
		v.suspect = time.Now()
	}
}
