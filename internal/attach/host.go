// Package attach lets other terminals look at a run: the run listens on a unix socket that only its user can open, and
// a viewer gets snapshots from it.
//
//	run: Host ──frames (gob)──> Viewer: dashboard
//	      ^──────commands (JSON lines)──┘
//
// A frame holds what changed since the one before. Every viewer has a goroutine and a snapshot of its own, so that
// neither a slow one nor many of them hold up the run or each other. Both ends are the same program on the same
// machine; a viewer of another version is refused.
package attach

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"benchtop/metrics"
)

const (
	// frameEvery is how often a viewer gets a snapshot.
	frameEvery = 500 * time.Millisecond
	// slowest is how long a viewer may take for a frame, and for its first words, before it is dropped.
	slowest = 10 * time.Second
	// lastWord is how long a viewer may take for a frame once the host is closed: the end of the run waits for it.
	lastWord = time.Second
	// mostViewers at a time, and the longest command of one.
	mostViewers = 8
	mostCommand = 64 << 10
)

// Run is what viewers look at. Its methods are called from many goroutines and must not block for long.
type Run interface {
	Snapshot() metrics.Snapshot
	// Controllable says that viewers may change the run, as its own terminal is gone.
	Controllable() bool

	// Command is one that a viewer may give: few words say what comes of it.
	Command(metrics.Command) (said string, ok bool)
	// Inspect says what the viewers together want to see of single requests.
	Inspect(metrics.Inspection)
}

// Host serves viewers of one run.
type Host struct {
	run     Run
	version string
	ctx     context.Context // ends with the host
	cancel  context.CancelFunc
	serving sync.WaitGroup
	seats   chan struct{}

	mu    sync.Mutex // guards looks
	looks map[net.Conn]metrics.Inspection
}

// Listen opens the socket of this process for viewers of run, and another one where that is removed. The error says why
// there can be none; the run can do without.
func Listen(run Run, version string) (*Host, error) {
	first, err := openOwn()
	if err != nil {
		return nil, err
	}
	h := &Host{run: run, version: version, seats: make(chan struct{}, mostViewers),
		looks: map[net.Conn]metrics.Inspection{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.serving.Go(func() {
		keep(h.ctx, first, func(s *socket) { h.serving.Go(func() { h.accept(s) }) })
	})
	return h, nil
}

// Close ends all viewers and removes the socket. Viewers keep the last snapshot they got. It may be called on nil.
func (h *Host) Close() {
	if h == nil {
		return
	}
	h.cancel()
	h.serving.Wait()
}

// Viewers is how many look at the run now. It may be called on nil.
func (h *Host) Viewers() int {
	if h == nil {
		return 0
	}
	return len(h.seats)
}

func (h *Host) accept(s *socket) {
	for {
		conn, err := s.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			select { // out of files, most likely: the run needs them more
			case <-time.After(time.Second):
			case <-h.ctx.Done():
				return
			}
			continue
		}
		select {
		case h.seats <- struct{}{}:
			h.serving.Go(func() {
				defer func() { <-h.seats }()
				h.serve(conn)
			})
		default:
			_ = json.NewEncoder(conn).Encode(reply{Attach: protocol, Version: h.version,
				Refused: fmt.Sprintf("%d terminals have already joined this run", mostViewers), About: h.about()})
			_ = conn.Close()
		}
	}
}

// serve tells one viewer how the run goes until either goes away.
func (h *Host) serve(conn net.Conn) {
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	defer conn.Close()
	unblock := context.AfterFunc(ctx, func() {
		_ = conn.SetReadDeadline(time.Now())
		_ = conn.SetWriteDeadline(time.Now().Add(lastWord))
	})
	defer unblock()

	_ = conn.SetDeadline(time.Now().Add(slowest))
	lines := bufio.NewReaderSize(conn, mostCommand)
	var first hello
	if line, err := lines.ReadSlice('\n'); err != nil || json.Unmarshal(line, &first) != nil {
		return
	}
	answer := reply{Attach: protocol, Version: h.version, Control: h.run.Controllable(), About: h.about()}
	if !first.Ask && (first.Attach != protocol || first.Version != h.version) {
		answer.Refused = refusal(h.version, first.Version)
	}
	if json.NewEncoder(conn).Encode(answer) != nil || answer.Refused != "" || first.Ask {
		return
	}
	_ = conn.SetDeadline(time.Time{})

	notices, looked := make(chan string, 1), make(chan struct{}, 1)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer cancel()
		h.handle(conn, lines, notices, looked)
	})
	defer h.look(conn, metrics.Inspection{})
	h.send(ctx, conn, notices, looked)
	cancel()
	_ = conn.SetReadDeadline(time.Now())
	reading.Wait()
}

// send writes frames until the viewer or the host is gone: now and then while the run is on, and when there is
// something to answer.
func (h *Host) send(ctx context.Context, conn net.Conn, notices <-chan string, looked <-chan struct{}) {
	out := bufio.NewWriterSize(conn, 64<<10)
	enc := gob.NewEncoder(out)
	var sent sender
	tick := time.NewTicker(frameEvery)
	defer tick.Stop()
	notice := ""
	put := func() bool {
		f := sent.next(h.run.Snapshot())
		f.Snapshot.Notice, notice = notice, ""
		f.Control = h.run.Controllable()
		if f.Snapshot.State == metrics.Finished {
			tick.Stop()
		}
		_ = conn.SetWriteDeadline(time.Now().Add(slowest))
		if ctx.Err() != nil { // else it is shortened when ctx ends
			_ = conn.SetWriteDeadline(time.Now().Add(lastWord))
		}
		return enc.Encode(&f) == nil && out.Flush() == nil
	}
	for put() {
		select {
		case <-tick.C:
		case <-looked:
		case notice = <-notices: // an answer goes out at once
		case <-ctx.Done():
			// The last thing a viewer should see is how it ended.
			if sent.last.State != metrics.Finished {
				put()
			}
			return
		}
	}
}

// handle does what a viewer asks for until it is gone.
func (h *Host) handle(conn net.Conn, lines *bufio.Reader, notices chan string, looked chan<- struct{}) {
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		var r request
		if json.Unmarshal(line, &r) != nil {
			return
		}
		if r.Inspect != nil {
			h.look(conn, *r.Inspect)
			select {
			case looked <- struct{}{}:
			default:
			}
			continue
		}
		if words := h.do(r.Command); words != "" {
			select { // the newest answer counts
			case <-notices:
			default:
			}
			notices <- words
		}
	}
}

// readOnly answers a viewer who may only look.
const readOnly = "read only: the terminal that started the run controls it"

func (h *Host) do(c metrics.Command) string {
	if !h.run.Controllable() {
		return readOnly
	}
	said, _ := h.run.Command(c)
	return said
}

// look takes what one viewer wants to see, and tells the run what all of them want.
func (h *Host) look(conn net.Conn, l metrics.Inspection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.looks[conn] = l; l == (metrics.Inspection{}) {
		delete(h.looks, conn)
	}
	all := l
	for _, other := range h.looks {
		all = all.With(other)
	}
	h.run.Inspect(all)
}
