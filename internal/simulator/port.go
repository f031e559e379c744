package simulator

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// port is a listener that can be shut for a while and opened again, and that resets chosen connections.
type port struct {
	shutter  shutter
	refused  func(connection int) bool // whether the one with that number, from 1, is to be reset
	accepted int                       // owned by Accept

	mu     sync.Mutex    // guards all below
	opened chan struct{} // closed when the port opens again or is closed; nil while it is open
	shuts  int           // how often it was shut
	timer  *time.Timer   // opens again, nil for never
	err    error         // net.ErrClosed, or why it could not be opened again
}

// shutter is a network's way to refuse connections.
type shutter interface {
	net.Listener
	Shut()
	Open() error
}

// Listener returns l with the faults of the port itself: refuse and reset-accept. It works for TCP and for Pipe; on
// other networks, refuse resets connections instead. It may be called once.
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
	if p.err != nil {
		return
	}
	if p.opened == nil {
		p.opened = make(chan struct{})
		p.shuts++
		p.shutter.Shut()
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.timer = nil; d > 0 {
		p.timer = time.AfterFunc(d, p.open)
	}
}

func (p *port) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil && p.opened != nil {
		p.err = p.shutter.Open()
		close(p.opened)
		p.opened = nil
	}
}

// state returns a channel to wait for while the port is shut, the number of times it was, and the error of a closed
// port.
func (p *port) state() (opened <-chan struct{}, shuts int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened, p.shuts, p.err
}

// shutNow reports whether the port is shut.
func (p *port) shutNow() bool {
	opened, _, _ := p.state()
	return opened != nil
}

// Accept waits while the port is shut. It fails when the port is closed or cannot be opened again.
func (p *port) Accept() (net.Conn, error) {
	for {
		opened, before, err := p.state()
		if err != nil {
			return nil, err
		}
		if opened != nil {
			<-opened
			continue
		}
		c, err := p.shutter.Accept()
		_, shuts, _ := p.state()
		switch {
		case err != nil && shuts != before: // because it was shut; it may be open again
		case err != nil:
			return nil, err
		case p.shutNow(): // too late for this connection
			reset(c)
		default:
			if p.accepted++; !p.refused(p.accepted) {
				return c, nil
			}
			reset(c)
		}
	}
}

func (p *port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == net.ErrClosed {
		return nil
	}
	p.err = net.ErrClosed
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.opened != nil {
		close(p.opened)
		p.opened = nil
	}
	return p.shutter.Close()
}

func (p *port) Addr() net.Addr { return p.shutter.Addr() }

func shutterOf(l net.Listener) shutter {
	switch l := l.(type) {
	case *net.TCPListener:
		t := &tcpShutter{address: l.Addr()}
		t.current.Store(l)
		return t
	case shutter:
		return l
	}
	return openNetwork{l}
}

// tcpShutter stops listening, so that the system refuses connections, and listens at the same address again.
type tcpShutter struct {
	address net.Addr
	current atomic.Pointer[net.TCPListener]
}

func (t *tcpShutter) Accept() (net.Conn, error) { return t.current.Load().Accept() }
func (t *tcpShutter) Addr() net.Addr            { return t.address }
func (t *tcpShutter) Shut()                     { _ = t.current.Load().Close() }

// Close closes the current listener, and ignores that one of a shut port is closed.
func (t *tcpShutter) Close() error {
	t.Shut()
	return nil
}

func (t *tcpShutter) Open() error {
	l, err := net.Listen("tcp", t.address.String())
	if err == nil {
		t.current.Store(l.(*net.TCPListener))
	}
	return err
}

// openNetwork is the shutter of a network that cannot refuse.
type openNetwork struct{ net.Listener }

func (openNetwork) Shut()       {}
func (openNetwork) Open() error { return nil }
