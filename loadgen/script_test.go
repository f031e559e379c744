package loadgen

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// script answers one request on a connection, byte for byte as a test wants it; false closes the connection.
type script func(conn net.Conn, r *http.Request, body []byte) bool

// serve answers the requests of a connection until the script or the client closes it.
func (do script) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		q, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(q.Body)
		if err != nil || !do(conn, q, body) {
			return
		}
	}
}

// scriptServer is a server in memory that follows scripts: the n-th request of the run gets the n-th one, and the last
// serves all that follow.
type scriptServer struct {
	t       *testing.T
	scripts []script
	slow    time.Duration // duration of a dial
	// refuse is the error of the first dial, nil for none; wrap wraps the client's end of the first connection.
	refuse error
	wrap   func(net.Conn) net.Conn

	mu     sync.Mutex
	served int
	dials  int
	bodies []string
	ids    []string // the x-request-id of each
	conns  []net.Conn
	work   sync.WaitGroup
}

func newScripted(t *testing.T, scripts ...script) *scriptServer {
	return &scriptServer{t: t, scripts: scripts}
}

func (s *scriptServer) dial(context.Context, string, string) (net.Conn, error) {
	time.Sleep(s.slow)
	var client net.Conn
	client, server := net.Pipe()
	s.mu.Lock()
	s.dials++
	if s.dials == 1 && s.refuse != nil {
		s.mu.Unlock()
		return nil, s.refuse
	}
	if s.dials == 1 && s.wrap != nil {
		client = s.wrap(client)
	}
	s.conns = append(s.conns, server)
	s.mu.Unlock()
	s.work.Go(func() { script(s.answer).serve(server) })
	return client, nil
}

// answer is the script of all connections.
func (s *scriptServer) answer(conn net.Conn, r *http.Request, body []byte) bool {
	s.mu.Lock()
	do := s.scripts[min(s.served, len(s.scripts)-1)]
	s.served++
	s.bodies, s.ids = append(s.bodies, string(body)), append(s.ids, r.Header.Get("X-Request-Id"))
	s.mu.Unlock()
	return do(conn, r, body)
}

// close ends all connections and waits for the server's goroutines.
func (s *scriptServer) close() {
	s.mu.Lock()
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.work.Wait()
}

func (s *scriptServer) target() *target.Target {
	s.t.Helper()
	return targetOf(s.t, target.Options{Dial: s.dial})
}

// targetOf is a server at model.test, unless the options have another URL.
func targetOf(t testing.TB, o target.Options) *target.Target {
	t.Helper()
	o.BaseURL = cmp.Or(o.BaseURL, "http://model.test")
	g, err := target.New(o)
	assert.Fine(t, err)
	return g
}

// pieces writes each piece by itself after a pause.
func pieces(keep bool, pause time.Duration, all ...string) script {
	return func(conn net.Conn, _ *http.Request, _ []byte) bool {
		for i, p := range all {
			if i > 0 {
				time.Sleep(pause)
			}
			if _, err := io.WriteString(conn, p); err != nil {
				return false
			}
		}
		return keep
	}
}

// prompts is a source of n conversations of one short turn each, or of several, or of one that is given; more follow
// when they are used up and the run goes on.
type prompts struct {
	n, turns, next int
	turn           *datasets.Turn
	more           *prompts
}

func (p *prompts) Next() (datasets.Conversation, error) {
	if p.next == p.n {
		return datasets.Conversation{}, io.EOF
	}
	p.next++
	c := datasets.Conversation{ID: "r-" + string(rune('0'+p.next-1))}
	if p.turn != nil {
		c.Turns = append(c.Turns, *p.turn)
		return c, nil
	}
	for range max(1, p.turns) {
		c.Turns = append(c.Turns, datasets.Turn{Text: "hi", InputTokens: 1, MaxTokens: 8})
	}
	return c, nil
}

// source is what a test's conversations come from.
type source interface {
	Next() (datasets.Conversation, error)
}

// flow has the conversations of a source.
func flow(s source) datasets.Flow {
	f := datasets.Flow{Next: s.Next}
	if p, ok := s.(*prompts); ok && p.more != nil {
		f.More = func() (datasets.Flow, error) { return flow(p.more), nil }
	}
	return f
}

// logbook is a listener that keeps the requests.
type logbook struct {
	mu   sync.Mutex
	due  int
	sent int
	all  []metrics.Request
}

func (l *logbook) Due(*metrics.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due++
}

func (l *logbook) Sent(*metrics.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent++
}

func (l *logbook) Chunk(*metrics.Request) {}

func (l *logbook) Done(q *metrics.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := *q
	c.Chunks = slices.Clone(q.Chunks)
	l.all = append(l.all, c)
	slices.SortFunc(l.all, metrics.ByIndex)
}

// bubble runs a test of a name in virtual time.
func bubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// perform makes a run in virtual time against a scripted server, all at once unless change says otherwise. It must be
// called inside a bubble. look, if it is not nil, gets the engine before it runs.
func perform(t *testing.T, s *scriptServer, from source, sink listener, change func(*Options),
	look func(*Engine)) *Engine {
	t.Helper()
	return performUntil(t.Context(), t, s, from, sink, change, look)
}

// performUntil is perform with a context of its own.
func performUntil(
	ctx context.Context, t *testing.T, s *scriptServer, from source, sink listener, change func(*Options),
	look func(*Engine),
) *Engine {
	t.Helper()
	o := Defaults()
	o.Target, o.Start, o.Pacer, o.Schedule = s.target(), time.Now(), "timer", shape.Immediately()
	if change != nil {
		change(&o)
	}
	e, err := New(o, sinkOf{sink})
	assert.Fine(t, err)
	if look != nil {
		look(e)
	}
	assert.Fine(t, e.Run(ctx, flow(from)))
	s.close()
	return e
}

// load runs n requests one after the other against a scripted server; it must be called inside a bubble.
func load(t *testing.T, s *scriptServer, n int, change func(*Options)) []metrics.Request {
	t.Helper()
	return loadFrom(t, s, &prompts{n: n}, change, nil)
}

// loadFrom is load with prompts of its own, and access to the engine before it runs.
func loadFrom(t *testing.T, s *scriptServer, from *prompts, change func(*Options),
	look func(*Engine)) []metrics.Request {
	t.Helper()
	var book logbook
	perform(t, s, from, &book, func(o *Options) {
		o.Schedule, o.Limit = shape.At(make([]time.Duration, from.n)), 1
		if change != nil {
			change(o)
		}
	}, look)
	return book.all
}

// ends checks how a request ends: with a failure and words of its error, or "" for both.
func ends(t *testing.T, q *metrics.Request, failure metrics.Failure, words string) {
	t.Helper()
	if q.Failure != failure || !strings.Contains(q.Error, words) {
		t.Errorf("%q %q, want %q %q", q.Failure, q.Error, failure, words)
	}
}
