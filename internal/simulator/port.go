package simulator

import (
	"net"
	"sync"
	"time"
)

// port is a listener that can be shut for a while and opened again, and that resets connections as it is told.
type port struct {
	shutter  shutter
	refused  func(connection int) bool // whether the one with that number, from 1, is to be reset
	accepted int                       // owned by Accept

	mu     sync.Mutex // guards all below
	isShut bool
	shuts  int           // how often it was shut
	opened chan struct{} // closed when isShut ends, also by Close
	timer  *time.Timer   // opens again, nil for never
	closed bool
	err    error // why it could not be opened again
}

// shutter is a network's way to refuse connections.
type shutter interface {
	net.Listener
	shut()
	open() error
}

// Listener returns l with the faults that concern the port itself: refuse and reset-accept. It works for TCP and for what
// Pipe returns; on others, refuse resets connections instead. Serve on what it returns, and call it once.
func (s *Server) Listener(l net.Listener) net.Listener {
	p := &port{shutter: shutterOf(l)}
	p.refused = func(connection int) bool {
		for i, f := range s.profile.Faults {
			if f.Kind == FaultResetAccept && f.hits(connection, s.faultSeed(i)) {
				return true
			}
		}
		return false
	}
	s.port.Store(p)
	return p
}

// shut refuses connections for d, or for good if d is 0.
func (p *port) shut(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if !p.isShut {
		p.isShut, p.opened = true, make(chan struct{})
		p.shuts++
		p.shutter.shut()
	}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if d > 0 {
		p.timer = time.AfterFunc(d, p.open)
	}
}

func (p *port) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.isShut {
		return
	}
	p.err = p.shutter.open()
	p.isShut = false
	close(p.opened)
}

// shutNow says that the port is shut.
func (p *port) shutNow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isShut
}

// Accept waits while the port is shut. It fails when the port is closed or cannot be opened again.
func (p *port) Accept() (net.Conn, error) {
	for {
		p.mu.Lock()
		isShut, shuts, opened, closed, failed := p.isShut, p.shuts, p.opened, p.closed, p.err
		p.mu.Unlock()
		switch {
		case closed:
			return nil, net.ErrClosed
		case failed != nil:
			return nil, failed
		case isShut:
			<-opened
			continue
		}
		c, err := p.shutter.Accept()
		if err != nil {
			if p.shutSince(shuts) {
				continue // that was why
			}
			return nil, err
		}
		if p.shutNow() { // it slipped in
			reset(c)
			continue
		}
		if p.accepted++; p.refused(p.accepted) {
			reset(c)
			continue
		}
		return c, nil
	}
}

// shutSince says that the port was shut after the given count was taken; it may be open again by now.
func (p *port) shutSince(shuts int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shuts != shuts
}

func (p *port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.isShut {
		p.isShut = false
		close(p.opened)
	}
	return p.shutter.Close()
}

func (p *port) Addr() net.Addr { return p.shutter.Addr() }

func shutterOf(l net.Listener) shutter {
	switch l := l.(type) {
	case *net.TCPListener:
		return &tcpShutter{address: l.Addr(), listener: l}
	case *pipeListener:
		return l
	}
	return accepting{l}
}

// tcpShutter stops listening, so that the system refuses connections, and listens at the same address again.
type tcpShutter struct {
	address net.Addr

	mu       sync.Mutex // guards listener
	listener net.Listener
}

func (t *tcpShutter) current() net.Listener {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.listener
}

func (t *tcpShutter) Accept() (net.Conn, error) { return t.current().Accept() }
func (t *tcpShutter) Addr() net.Addr            { return t.address }
func (t *tcpShutter) shut()                     { _ = t.current().Close() }

// Close closes the listener in use; closing one that is shut fails, which says nothing.
func (t *tcpShutter) Close() error {
	_ = t.current().Close()
	return nil
}

func (t *tcpShutter) open() error {
	l, err := net.Listen("tcp", t.address.String())
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listener = l
	return nil
}

// accepting is the shutter of a network that cannot refuse.
type accepting struct{ net.Listener }

func (accepting) shut()       {}
func (accepting) open() error { return nil }
