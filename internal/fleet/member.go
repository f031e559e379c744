package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/fleet/link"
	"benchtop/internal/run"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Led is the run of a member, which another machine leads.
type Led interface {
	Obey(o run.Order) error
	Repeat(fact any)
	Suffice(reason string)
	Sending() run.Sending
	Journal() io.ReaderAt
}

// Member is a machine of a run, as it sees itself.
type Member struct {
	Setup
	wire   link.Wire
	clock  *clock
	start  chan start
	over   chan struct{} // closed when the run is over for all
	ending sync.Once
	stops  []func()
	feed   feed
	source *link.Source
	file   *os.File
	copied bool

	obeying sync.Mutex // held while orders are carried out, one after the other; taken before mu
	mu      sync.Mutex // guards the following
	run     Led
	next    int // order
	alive   time.Time
	asking  bool
	decoder journal.Decoder
	told    int
}

// errRefused is the error of a run that does not take this machine.
var errRefused = errors.New("the run does not take this machine")

// askFor is how long an answer of the machine that leads may take.
const askFor = 10 * time.Second

// orphaned is how long a member goes on without the machine that leads where only that would end the run.
const orphaned = time.Minute

// Join asks for a part of the run. It waits for the machine that leads. The worker is that of the join string.
func Join(ctx context.Context, w link.Wire, version string, worker int) (*Member, error) {
	m := &Member{wire: w, clock: newClock(), start: make(chan start, 1), over: make(chan struct{}), next: 1,
		alive: time.Now()}
	host, _ := os.Hostname()
	question := encode(hello{Version: version, ID: rand.Text(), Host: host, Worker: worker})
	for {
		asking, cancel := context.WithTimeout(ctx, askFor)
		answer, err := w.Request(asking, subjectHello, question)
		cancel()
		if err == nil {
			err = json.Unmarshal(answer, &m.Setup)
		}
		switch {
		case err == nil && m.Refused != "":
			return nil, fmt.Errorf("%w: %s", errRefused, m.Refused)
		case err == nil:
			return m, m.listen()
		}
		select { // the machine that leads may come later
		case <-ctx.Done():
			return nil, fmt.Errorf("no machine leads the run: %w", err)
		case <-time.After(time.Second):
		}
	}
}

// listen answers the machine that leads.
func (m *Member) listen() error {
	handle := func(subject string, take func([]byte) []byte) error {
		stop, err := m.wire.Handle(subject, func(_ string, b []byte) []byte { return take(b) })
		if err == nil {
			m.stops = append(m.stops, stop)
		}
		return err
	}
	clock, err := link.AnswerClock(m.wire, subjectOf(aboutClock, m.Part.K), m.clock.now)
	if err != nil {
		return err
	}
	m.stops = append(m.stops, clock)
	return errors.Join(
		handle(subjectOf(aboutStart, m.Part.K), func(b []byte) []byte {
			var s start
			if json.Unmarshal(b, &s) != nil {
				return nil
			}
			select {
			case m.start <- s:
			default: // asked again
			}
			return []byte{}
		}),
		handle(subjectAlive, func(b []byte) []byte {
			var orders int
			if json.Unmarshal(b, &orders) == nil {
				m.heard(orders)
			}
			return nil
		}),
		handle(subjectOrder+".new", func(b []byte) []byte {
			var o order
			if json.Unmarshal(b, &o) == nil {
				m.obey(o)
				m.heard(o.Number)
			}
			return nil
		}),
		handle(subjectOver, func([]byte) []byte {
			m.ending.Do(func() { close(m.over) })
			return nil
		}))
}

// Close ends the membership.
func (m *Member) Close() {
	for _, stop := range m.stops {
		stop()
	}
	if m.source != nil {
		m.source.Close()
	}
	if m.file != nil {
		m.file.Close()
	}
}

// Fail tells the machine that leads why this one cannot take part.
func (m *Member) Fail(ctx context.Context, problem error) {
	_ = m.ready(ctx, ready{Problem: problem.Error()}) // it is told here as well
}

func (m *Member) ready(ctx context.Context, r ready) error {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	_, err := m.wire.Request(ctx, subjectOf(aboutReady, m.Part.K), encode(r))
	return err
}

// Prepared tells that this machine is ready for a plan, and waits until the run begins, which is offset 0 of its part.
// Began is the same moment by the clock of the machine that leads.
func (m *Member) Prepared(ctx context.Context, plan *metrics.Plan) (at, began time.Time, w metrics.Worker, err error) {
	file, err := journal.NewWriter(nil, *plan)
	if err != nil {
		return at, began, w, err
	}
	head := make([]byte, 8<<20)
	n, _ := file.ReadAt(head, 0)
	if err := m.ready(ctx, ready{Plan: head[:n]}); err != nil {
		return at, began, w, fmt.Errorf("the machine that leads the run does not answer: %w", err)
	}
	select {
	case s := <-m.start:
		at = m.clock.at(s.At)
		if !at.After(time.Now()) { // the machine that leads has given up
			return at, began, w, errors.New("the run began before this machine heard of it")
		}
		host, _ := os.Hostname()
		w = metrics.Worker{Part: m.Part.K, Host: host, Offset: s.Offset, Bound: s.Bound}
		select {
		case <-time.After(time.Until(at)):
			return at, s.Began, w, nil
		case <-m.over:
		case <-ctx.Done():
		}
	case <-m.over:
	case <-ctx.Done():
		return at, began, w, context.Cause(ctx)
	}
	return at, began, w, errors.New("the run ended before it began")
}

// Sink tells the machine that leads of the requests in flight.
func (m *Member) Sink() event.Sink {
	m.feed.live = func(record []byte) {
		if m.source != nil {
			m.source.Live(record)
		}
	}
	return &m.feed
}

// Begin has the machine that leads hear of a run, whose journal is also in a file, and steer it. It comes before Do.
func (m *Member) Begin(r Led, file string) (err error) {
	if m.file, err = os.Open(file); err != nil {
		return err
	}
	if m.source, err = link.NewSource(m.wire, subjectOf(aboutPart, m.Part.K), tail{r.Journal(), m.file}); err != nil {
		return err
	}
	m.mu.Lock()
	m.run = r
	m.mu.Unlock()
	return nil
}

// tail reads a journal from where it is while it is written, and from its file later.
type tail struct{ now, later io.ReaderAt }

func (t tail) ReadAt(p []byte, from int64) (int, error) {
	n, err := t.now.ReadAt(p, from)
	if err != nil && err != io.EOF {
		return t.later.ReadAt(p, from)
	}
	return n, err
}

// Watch tells the machine that leads how far the sending is, until ctx ends. Without that machine a run whose end only
// that knows ends after a minute.
func (m *Member) Watch(ctx context.Context, open bool) {
	tick := time.NewTicker(aliveEvery / 2)
	defer tick.Stop()
	for {
		m.mu.Lock()
		m.told++
		s := state{Number: m.told, Orders: m.next - 1, File: m.file.Name()}
		silent := time.Since(m.alive)
		m.mu.Unlock()
		s.Sending = m.run.Sending()
		m.feed.state(s)
		if open && silent > orphaned {
			m.run.Suffice("the machine that leads the run is out of sight")
		}
		select {
		case <-ctx.Done():
			return
		case <-m.over:
			return
		case <-tick.C:
		}
	}
}

// End waits until the machine that leads has the journal, which is complete.
func (m *Member) End(ctx context.Context) error {
	err := m.source.End(ctx)
	m.copied = err == nil
	return err
}

// Copied reports whether the machine that leads has the journal.
func (m *Member) Copied() bool { return m.copied }

// heard takes note that the machine that leads has given so many orders, and asks for those that are missing.
func (m *Member) heard(orders int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alive = time.Now()
	if orders < m.next || m.asking || m.run == nil {
		return
	}
	m.asking = true
	from := m.next
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), askFor)
		defer cancel()
		var missing []order
		if answer, err := m.wire.Request(ctx, subjectOrder, encode(from)); err == nil {
			_ = json.Unmarshal(answer, &missing) // asked again
		}
		for _, o := range missing {
			m.obey(o)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.asking = false
	}()
}

// obey carries out an order if it is the next.
func (m *Member) obey(o order) {
	m.obeying.Lock()
	defer m.obeying.Unlock()
	m.mu.Lock()
	r := m.run
	if o.Number != m.next || r == nil {
		m.mu.Unlock()
		return
	}
	m.next++
	m.mu.Unlock()
	if o.Fact == nil {
		_ = r.Obey(o.Order) // of the same version
		return
	}
	if e, err := m.decoder.Event(o.Fact); err == nil {
		r.Repeat(e.Value)
	}
}
