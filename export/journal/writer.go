package journal

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

const (
	// flushEvery leaves room for a slow disk: what is done must be in the file within a second.
	flushEvery = time.Second / 2
	// blockSize is how much a buffer takes before it is flushed early, or kept as it is if there is no file.
	blockSize = 1 << 20
)

// Writer writes down a run while it goes on: it is a sink of the run's events. Its methods may be called from any goroutine.
// Lines collect in memory; a goroutine of the writer writes them to the file twice a second, or sooner when there are many, so
// that no request waits for the disk. When a write fails, everything from there on stays in memory and is tried again with every
// flush, so that a disk that has room again gets a whole journal; Events gives back everything all the while.
type Writer struct {
	w      io.Writer   // nil: everything stays in memory
	reread io.ReaderAt // w again; nil: what was written cannot be read back, so it is kept as well
	name   string      // for errors

	full          chan struct{} // asks for an early flush
	stop, stopped chan struct{} // of the goroutine

	flushing sync.Mutex // held by whoever writes to w or looks at the journal as a whole; taken before mu
	mu       sync.Mutex // guards everything below
	written  int64      // bytes in the file that can be read back
	copied   [][]byte   // the bytes in a file that cannot
	kept     [][]byte   // blocks that follow those and never change: w refused them, or there is none
	pending  []byte     // lines that follow those
	spare    []byte     // a buffer to reuse
	err      error      // of the last write
	ended    bool       // nothing more is filed
	closed   bool
}

// NewWriter starts a journal with the plan as its first line. A nil w keeps it in memory. A w that is also an
// io.ReaderAt, such as an empty file opened for reading and writing, is read back by Events; for any other w a copy
// stays in memory. The error says that the plan cannot be written down; trouble with w is told by Err. Close ends the
// writer and its goroutine, but does not close w.
func NewWriter(w io.Writer, plan metrics.Plan) (*Writer, error) {
	header, err := appendHeader(nil, plan)
	if err != nil {
		return nil, err
	}
	j := &Writer{w: w, name: "journal"}
	if w == nil {
		j.pending = header
		return j, nil
	}
	if f, ok := w.(interface{ Name() string }); ok {
		j.name = f.Name()
	}
	n, err := write(w, header)
	j.err = err
	if at, ok := w.(io.ReaderAt); ok && startsWith(at, header[:n]) {
		j.reread, j.written = at, int64(n)
	} else {
		j.copied = [][]byte{header[:n]}
	}
	if n < len(header) {
		j.kept = [][]byte{header[n:]}
	}
	j.full, j.stop, j.stopped = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go j.flushLoop()
	return j, nil
}

// startsWith reports whether what was written can be read back: a file may be open for writing only. Where nothing was
// written, that is not known.
func startsWith(r io.ReaderAt, want []byte) bool {
	got := make([]byte, len(want))
	n, _ := r.ReadAt(got, 0)
	return n > 0 && bytes.Equal(got[:n], want)
}

func (j *Writer) flushLoop() {
	defer close(j.stopped)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-j.stop:
			return
		case <-tick.C:
		case <-j.full:
		}
		j.Flush() // Err tells
	}
}

// Flush writes what has collected to the file, without forcing it to the disk, and returns the same error as Err.
func (j *Writer) Flush() error {
	j.flushing.Lock()
	defer j.flushing.Unlock()
	for {
		block, newest := j.next()
		if len(block) == 0 {
			return j.Err()
		}
		n, err := write(j.w, block)
		j.wrote(block, n, err, newest)
		if err != nil || newest {
			return err
		}
	}
}

// next is the block to write, none if there is nothing to write or no file. newest: it has the lines filed since the last flush,
// and nothing refused before is left.
func (j *Writer) next() (block []byte, newest bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.w == nil || len(j.kept) == 0 && len(j.pending) == 0:
		return nil, false
	case len(j.kept) == 0:
		j.kept = append(j.kept, j.pending)
		j.pending, j.spare, newest = j.spare[:0], nil, true
	}
	return j.kept[0], newest
}

// wrote notes that n bytes of the first block kept are in the file. A block that only this flush has seen may be used again.
func (j *Writer) wrote(block []byte, n int, err error, unseen bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = err
	if j.reread == nil {
		j.copied = append(j.copied, block[:n])
	} else {
		j.written += int64(n)
	}
	switch {
	case n < len(block):
		j.kept[0] = block[n:]
		return
	case unseen && j.reread != nil:
		j.spare = block
	}
	j.kept = slices.Delete(j.kept, 0, 1)
}

// write makes up for writers that do less than io.Writer asks for.
func write(w io.Writer, b []byte) (int, error) {
	n, err := w.Write(b)
	n = min(max(n, 0), len(b))
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

// Err returns the error of the last write: as long as there is one, the end of the journal is in memory only.
func (j *Writer) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close writes everything to the file and forces it to the disk. It returns the same error as Err. What is told after it is not
// taken. The journal can still be read, as long as w is open.
func (j *Writer) Close() error {
	j.mu.Lock()
	if j.closed {
		defer j.mu.Unlock()
		return j.err
	}
	j.closed, j.ended = true, true
	j.mu.Unlock()
	if j.w == nil {
		return nil
	}
	close(j.stop)
	<-j.stopped
	err := j.Flush()
	if f, ok := j.w.(interface{ Sync() error }); ok && err == nil {
		err = f.Sync()
		j.mu.Lock()
		defer j.mu.Unlock()
		j.err = err
	}
	return err
}

// Events are those told so far, as the journal has them. They are the same whenever they are ranged over, though the run goes on.
func (j *Writer) Events() event.Events {
	whole := j.reader()
	return func(yield func(event.Event, error) bool) { scan(whole(), j.name, yield) }
}

// WriteTo copies the whole journal as it is now, for instance to a disk that has room.
func (j *Writer) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, j.reader()()) }

// reader returns a function that reads the journal as it is now, from its beginning each time it is called.
func (j *Writer) reader() func() io.Reader {
	j.flushing.Lock()
	defer j.flushing.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	file, written := j.reread, j.written
	blocks := append(slices.Concat(j.copied, j.kept), bytes.Clone(j.pending))
	return func() io.Reader {
		var parts []io.Reader
		if file != nil {
			parts = append(parts, io.NewSectionReader(file, 0, written))
		}
		for _, block := range blocks {
			parts = append(parts, bytes.NewReader(block))
		}
		return io.MultiReader(parts...)
	}
}

// Take files an event. Of a request it files the end, which tells all of it, and keeps nothing. After a metrics.End it files
// nothing more.
func (j *Writer) Take(e *event.Event) {
	switch e.Kind {
	case event.Done:
		j.file(func(b []byte) []byte { return appendRequest(b, e.Request) })
	case event.Fact:
		j.fact(e)
	}
}

func (j *Writer) fact(e *event.Event) {
	_, ends := e.Value.(metrics.End)
	j.file(func(b []byte) []byte {
		j.ended = ends
		return appendFact(b, *e)
	})
}

// file appends a line to what is to be written.
func (j *Writer) file(line func([]byte) []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.ended {
		j.pending = line(j.pending)
		j.flushIfFull()
	}
}

// flushIfFull looks after a buffer that may have become full. The caller holds mu.
func (j *Writer) flushIfFull() {
	if len(j.pending) < blockSize {
		return
	}
	if j.w == nil || j.err != nil {
		j.kept = append(j.kept, j.pending)
		j.pending = make([]byte, 0, blockSize+blockSize/8)
		return
	}
	select {
	case j.full <- struct{}{}:
	default:
	}
}
