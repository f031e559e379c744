package loadgen

import (
	"context"
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

// Servers are those of a run, which share its load.
type Servers struct {
	// Target is the first server, which answers for all where one does. Others share the load with it, by Strategy; ""
	// for RoundRobin.
	Target   *target.Target
	Others   []*target.Target
	Strategy Strategy
	// Connections to them in their order, opened ahead and closed by the run; nil makes it open its own when it needs
	// them.
	Connections conn.Pools
}

// Add appends a server.
func (s *Servers) Add(t *target.Target) {
	if s.Target == nil {
		s.Target = t
	} else {
		s.Others = append(s.Others, t)
	}
}

// All are the servers in order; none without a Target.
func (s *Servers) All() []*target.Target {
	if s.Target == nil {
		return nil
	}
	return append([]*target.Target{s.Target}, s.Others...)
}

// Connect opens connections ahead of need until n are open, in equal parts. Requests open those that fail.
func (s *Servers) Connect(ctx context.Context, timestamps string, n int) error {
	s.Connections = conn.NewPools(s.All(), timestamps)
	return s.Connections.Open(ctx, n)
}

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
	all, pools := o.All(), o.Connections
	if pools == nil {
		pools = conn.NewPools(all, o.Timestamps)
	}
	s := &servers{strategy: o.Strategy}
	for i, t := range all {
		s.all = append(s.all,
			&server{target: t, pool: pools[i],
				header: conn.NewHeader(t, o.Endpoint, traits.ContentType, traits.Header...)})
	}
	return s, pools
}

// check is an error if the servers cannot share the load.
func (s *Servers) check() error {
	if s.Strategy != "" && !slices.Contains(Strategies(), s.Strategy) {
		return fmt.Errorf("strategy %q: use %s", s.Strategy, strings.Trim(fmt.Sprint(Strategies()), "[]"))
	}
	if n := len(s.All()); s.Connections != nil && len(s.Connections) != n {
		return fmt.Errorf("connections to %d servers, and the load is for %d", len(s.Connections), n)
	}
	return nil
}

// retryAfter is the time for which a server without a connection gets no conversation, so that the one with the fewest
// in flight is not the one that fails at once.
const retryAfter = time.Second

// take gives a conversation its server, until release. Only its number decides in round robin, so that a run can be
// repeated.
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

// least is the server with the fewest in flight, of equal ones the first from a place on. One that could not be reached
// is tried once a second.
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
