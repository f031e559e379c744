package cli

import (
	"errors"
	"io"
	"os"
	"sync"

	"benchtop/export"
)

// castFile is the file of --record. A run goes on without it: what goes wrong is told once while the run is on, and once more
// at its end.
type castFile struct {
	to io.WriteCloser

	mu     sync.Mutex         // guards everything below
	tell   func(words string) // hears of the first failure to write, with no lock held; nil until there is a run
	err    error              // the first
	closed bool               // a screen that was left behind may write on
}

// errCastClosed is nobody's trouble.
var errCastClosed = errors.New("the recording is closed")

// Write returns every error, for the dashboard to stop recording.
func (c *castFile) Write(b []byte) (int, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0, errCastClosed
	}
	n, err := c.to.Write(b)
	first, tell := err != nil && c.err == nil, c.tell
	if first {
		c.err = err
	}
	c.mu.Unlock()
	if first && tell != nil {
		tell(castTrouble(err))
	}
	return n, err
}

// tells has tell hear of the first failure to write, also if that was before. A nil castFile has none.
func (c *castFile) tells(tell func(words string)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.tell = tell
	before := c.err
	c.mu.Unlock()
	if before != nil {
		tell(castTrouble(before))
	}
}

// Close ends the file; what goes wrong is kept for trouble.
func (c *castFile) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if err := c.to.Close(); c.err == nil {
		c.err = err
	}
}

// trouble is what went wrong, for the end of the run; empty for nothing. A nil castFile has none.
func (c *castFile) trouble() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	return []string{castTrouble(c.err)}
}

func castTrouble(err error) string {
	if at := (*os.PathError)(nil); errors.As(err, &at) {
		return "--record " + export.Clean(at.Path) + ": " + at.Err.Error() + "; the recording is cut short"
	}
	return "--record: " + export.Clean(err.Error()) + "; the recording is cut short"
}
