package attach

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"
)

// socket is where a host listens.
type socket struct {
	*net.UnixListener
	path string
	file fs.FileInfo
}

// standsEvery is how often a host looks whether its socket is still there.
const standsEvery = 3 * time.Second

// openOwn opens the socket of this process.
func openOwn() (*socket, error) {
	dir, err := directory()
	if err != nil {
		return nil, err
	}
	return open(socketOf(dir, os.Getpid()))
}

// open listens at a path. A socket left there by a dead process of the same number is removed. A process with this
// number in another container keeps its socket, and the run has none.
func open(path string) (*socket, error) {
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("another process listens at %s; set XDG_RUNTIME_DIR to a directory of its own", path)
	}
	_ = os.Remove(path)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // by then it may belong to another process
	s := &socket{UnixListener: l, path: path}
	if err = os.Chmod(path, 0o600); err == nil {
		s.file, err = os.Lstat(path)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return s, nil
}

// stands reports whether the socket can still be found at its path.
func (s *socket) stands() bool {
	now, err := os.Lstat(s.path)
	return err == nil && os.SameFile(now, s.file)
}

// close ends listening and removes the socket.
func (s *socket) close() {
	if s.stands() {
		_ = os.Remove(s.path)
	}
	_ = s.Close()
}

// keep has a socket in its place until ctx ends, and gives every one it opens to accept, the first included.
// $XDG_RUNTIME_DIR goes with the user's last session, and a run that goes on would not be found. Viewers that are
// connected stay.
func keep(ctx context.Context, s *socket, accept func(*socket)) {
	defer func() { s.close() }()
	accept(s)
	tick := time.NewTicker(standsEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if s.stands() {
			continue
		}
		if next, err := openOwn(); err == nil { // else there may be room later
			s.close()
			s = next
			accept(s)
		}
	}
}
