package loadgen

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// script answers one request on a connection, byte for byte as a test wants it; false closes the connection.
type script func(conn net.Conn, r *http.Request, body []byte) bool

// scripted is a server in memory that follows scripts: the n-th request of the run gets the n-th one, and the last serves
// all that follow.
type scripted struct {
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

func newScripted(t *testing.T, scripts ...script) *scripted {
	return &scripted{t: t, scripts: scripts}
}

func (s *scripted) dial(context.Context, string, string) (net.Conn, error) {
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
	s.work.Go(func() {
		defer server.Close()
		r := bufio.NewReader(server)
		for {
			q, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			body, err := io.ReadAll(q.Body)
			if err != nil {
				return
			}
			s.mu.Lock()
			do := s.scripts[min(s.served, len(s.scripts)-1)]
			s.served++
			s.bodies, s.ids = append(s.bodies, string(body)), append(s.ids, q.Header.Get("X-Request-Id"))
			s.mu.Unlock()
			if !do(server, q, body) {
				return
			}
		}
	})
	return client, nil
}

// close ends all connections and waits for the server's goroutines.
func (s *scripted) close() {
	s.mu.Lock()
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.work.Wait()
}

func (s *scripted) target() *target.Target {
	s.t.Helper()
	g, err := target.New(target.Options{BaseURL: "http://model.test", Dial: s.dial})
	if err != nil {
		s.t.Fatal(err)
	}
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

// prompts is a source of n conversations of one short turn each, or of several, or of one that is given.
type prompts struct {
	n, turns, next int
	turn           *datasets.Turn
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

// flow is what a test's conversations come from.
func flow(s interface {
	Next() (datasets.Conversation, error)
}) datasets.Flow {
	return datasets.Flow{Next: s.Next}
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

// load runs n requests one after the other against a scripted server; it must be called inside a bubble.
func load(t *testing.T, s *scripted, n int, change func(*Options)) []metrics.Request {
	t.Helper()
	return loadEngine(t, s, n, change, nil)
}

// loadEngine is load with access to the engine before it runs.
func loadEngine(t *testing.T, s *scripted, n int, change func(*Options), look func(*Engine)) []metrics.Request {
	t.Helper()
	return loadFrom(t, s, &prompts{n: n}, change, look)
}

// loadFrom is loadEngine with prompts of its own.
func loadFrom(t *testing.T, s *scripted, from *prompts, change func(*Options), look func(*Engine)) []metrics.Request {
	t.Helper()
	var book logbook
	o := Defaults()
	o.Target, o.Start, o.Pacer = s.target(), time.Now(), "timer"
	o.Schedule, o.Limit = shape.At(make([]time.Duration, from.n)), 1
	if change != nil {
		change(&o)
	}
	e, err := New(o, sinkOf{&book})
	if err != nil {
		t.Fatal(err)
	}
	if look != nil {
		look(e)
	}
	if err := e.Run(t.Context(), flow(from)); err != nil {
		t.Fatal(err)
	}
	s.close()
	return book.all
}
