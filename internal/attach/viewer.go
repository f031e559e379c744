package attach

import (
	"bufio"
	"cmp"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/metrics"
)

// Viewer is a look at a run in another process. Its methods are those of a dashboard's control.
type Viewer struct {
	conn      net.Conn
	control   atomic.Bool
	snapshots chan metrics.Snapshot
	reading   sync.WaitGroup

	mu  sync.Mutex // guards err, and writing to conn
	err error
}

// Dial joins the run behind a socket. The error says why that is not possible.
func Dial(path, version string) (*Viewer, error) {
	conn, err := net.DialTimeout("unix", path, firstWords)
	if err != nil {
		return nil, err
	}
	v := &Viewer{conn: conn, snapshots: make(chan metrics.Snapshot, 1)}
	in, err := v.greet(version)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	v.reading.Go(func() { v.read(in) })
	return v, nil
}

func (v *Viewer) greet(version string) (*bufio.Reader, error) {
	w, in, err := handshake(v.conn, hello{Attach: protocol, Version: version}, firstWords)
	switch {
	case err != nil:
		return nil, err
	case w.Refused != "":
		return nil, errors.New(w.Refused)
	case w.Attach != protocol:
		return nil, errors.New(refusal(w.Version, version))
	}
	v.control.Store(w.Control)
	return in, nil
}

func (v *Viewer) read(in *bufio.Reader) {
	defer close(v.snapshots)
	frames := gob.NewDecoder(in)
	var r receiver
	for {
		var f frame
		if err := frames.Decode(&f); err != nil {
			v.fail(err, r.last.State)
			return
		}
		s, ok := r.next(f)
		if !ok {
			v.fail(errors.New("a snapshot that does not follow the one before"), "")
			return
		}
		v.control.Store(f.Control)
		select {
		case missed := <-v.snapshots:
			s.Notice = cmp.Or(s.Notice, missed.Notice)
		default:
		}
		v.snapshots <- s // only this goroutine sends, so there is room
	}
}

// fail notes why there are no more snapshots, unless it is that the run is over.
func (v *Viewer) fail(err error, state metrics.State) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err == nil && state != metrics.Finished {
		v.err = fmt.Errorf("the run is gone: %w", err)
	}
}

// Snapshots is a channel of capacity 1 on which the latest wins. It is closed when the run is over or gone.
func (v *Viewer) Snapshots() <-chan metrics.Snapshot { return v.snapshots }

// Err is why the snapshots ended before the run did, nil if they did not.
func (v *Viewer) Err() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// Controls says that the run may be changed from here, now.
func (v *Viewer) Controls() bool { return v.control.Load() }

// Close leaves the run alone again.
func (v *Viewer) Close() {
	v.mu.Lock()
	if v.err == nil {
		v.err = net.ErrClosed
	}
	v.mu.Unlock()
	_ = v.conn.Close()
	v.reading.Wait()
}

// ask sends a request. The answer of the run comes with a snapshot; problem says why it could not be asked.
func (v *Viewer) ask(r request) (problem string) {
	line, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a screen must not stand still for it
	if _, err := v.conn.Write(append(line, '\n')); err != nil {
		return "the run does not listen"
	}
	return ""
}

// Command asks something of the run. Whether it is followed shows in the snapshots.
func (v *Viewer) Command(c metrics.Command) (said string, ok bool) {
	said = v.ask(request{Command: c})
	return said, said == ""
}

// Inspect says what of single requests the screen wants to see.
func (v *Viewer) Inspect(l metrics.Inspection) { v.ask(request{Inspect: &l}) }
