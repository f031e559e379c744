package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

const (
	// flushEvery keeps a finished request from missing in the file for more than a second, even on a slow disk.
	flushEvery = time.Second / 2
	// blockSize is the size of a buffer that is flushed early, or kept if there is no file.
	blockSize = 1 << 20
)

// Writer writes the journal during the run: it is a sink of the run's events. Its methods may be called from any
// goroutine. Lines collect in memory; a goroutine writes them to the file twice a second, or earlier if there are many,
// so that no request waits for the disk. After a failed write all later lines stay in memory, and each flush tries
// again, so that the journal is complete once the disk has space. Events returns all lines at any time.
type Writer struct {
	w      io.Writer   // nil: memory only
	reread io.ReaderAt // w; nil if it cannot be read, so that copied is kept
	name   string      // for errors

	full          chan struct{} // requests an early flush
	stop, stopped chan struct{} // of the goroutine

	flushing sync.Mutex // held while writing to w and while reading the whole journal; locked before mu
	gzipped  gzipped    // of a file, guarded by flushing
	mu       sync.Mutex // guards the fields below
	written  int64      // bytes in a file that can be read
	copied   [][]byte   // bytes in a file that cannot
	kept     [][]byte   // blocks after those: not written, or without a file; immutable
	pending  []byte     // lines after those
	spare    []byte     // a buffer to reuse
	err      error      // of the last write
	ended    bool       // no more lines
	closed   bool
}

// NewWriter starts a journal with the plan as its first line. A nil w keeps it in memory. Events reads a w that is also
// an io.ReaderAt, such as an empty file opened for reading and writing; for any other w a copy stays in memory. The
// error means that the plan has no JSON form; Err returns errors of w. Close ends the writer and its goroutine, but
// does not close w.
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
	j.gzipped.begin(header[:n])
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

// startsWith reports whether written bytes can be read back: a file may be open for writing only. It is false if
// nothing was written.
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
		j.Flush() // Err returns the error
	}
}

// Flush writes all lines to the file, without a sync, and returns the same error as Err.
func (j *Writer) Flush() error {
	j.flushing.Lock()
	defer j.flushing.Unlock()
	for {
		block, newest := j.next()
		if len(block) == 0 {
			return j.Err()
		}
		n, err := write(j.w, block)
		j.gzipped.write(block[:n])
		j.wrote(block, n, err, newest)
		if err != nil || newest {
			return err
		}
	}
}

// next is the block to write, empty if there is none or no file. newest: it is the last one, with the lines since the
// last flush.
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

// wrote records that n bytes of the first kept block are in the file. A block unseen by others is reused.
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

// write enforces the contract of io.Writer.
func write(w io.Writer, b []byte) (int, error) {
	n, err := w.Write(b)
	n = min(max(n, 0), len(b))
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

// Err returns the error of the last write: until it is nil again, the end of the journal is in memory only.
func (j *Writer) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close writes all lines to the file, syncs it and returns the same error as Err. Later events are ignored. The journal
// can be read while w is open.
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

// Events are the events so far. They are the same for each range over them, even if the run continues.
func (j *Writer) Events() event.Events { return j.Source()(event.Pick{}) }

// Source is Events for a part of the requests.
func (j *Writer) Source() event.Source {
	whole := j.reader()
	return func(some event.Pick) event.Events {
		return func(yield func(event.Event, error) bool) { scan(whole(0), j.name, some, yield) }
	}
}

// WriteTo copies the journal so far, for example to a disk with space.
func (j *Writer) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, j.reader()(0)) }

// ReadAt reads the journal so far, of which the end may not be in the file yet.
func (j *Writer) ReadAt(p []byte, from int64) (int, error) {
	n, err := io.ReadFull(j.reader()(from), p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// reader returns a function that opens the journal so far at an offset.
func (j *Writer) reader() func(from int64) io.Reader {
	j.flushing.Lock()
	defer j.flushing.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	file, written := j.reread, j.written
	blocks := append(slices.Concat(j.copied, j.kept), bytes.Clone(j.pending))
	return func(from int64) io.Reader {
		var parts []io.Reader
		if file != nil && from < written {
			parts = append(parts, io.NewSectionReader(file, from, written-from))
		}
		if from -= written; file == nil {
			from += written
		}
		for _, block := range blocks {
			skip := min(max(0, from), int64(len(block)))
			parts, from = append(parts, bytes.NewReader(block[skip:])), from-skip
		}
		return io.MultiReader(parts...)
	}
}

// Take files an event. The line of a request is written when it is done, and the request is not kept. Events after a
// metrics.End are ignored.
func (j *Writer) Take(e *event.Event) {
	switch e.Kind {
	case event.Done:
		j.file(func(b []byte) []byte { return appendRequest(b, e.Request) })
	case event.Fact:
		_, ends := e.Value.(metrics.End)
		j.file(func(b []byte) []byte {
			j.ended = ends
			return appendFact(b, *e)
		})
	}
}

// file appends a line. It requests a flush of a full buffer, or sets it aside if there is no file.
func (j *Writer) file(line func([]byte) []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended {
		return
	}
	if j.pending = line(j.pending); len(j.pending) < blockSize {
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

// gzipped is a file as gzip has it, made in memory while the file is written, so that little is left to do at the end.
type gzipped struct {
	z      *gzip.Writer // nil for a file that is too large
	out    *bytes.Buffer
	length int64 // of the file
}

// mostGzipped bounds the memory: that of about 8,000 requests of a hundred chunks.
const mostGzipped = 2 << 20

func (g *gzipped) begin(b []byte) {
	g.out = &bytes.Buffer{}
	g.z, _ = gzip.NewWriterLevel(g.out, gzip.BestSpeed)
	g.write(b)
}

func (g *gzipped) write(b []byte) {
	if g.z == nil {
		return
	}
	_, _ = g.z.Write(b) // memory takes all
	if g.length += int64(len(b)); g.out.Len() > mostGzipped {
		*g = gzipped{}
	}
}

// Compress replaces a file with a gzipped one whose name ends in ".gz", and returns that name. One of the two files is
// complete at any time. An existing file of the new name is kept, and is an error. The file is that of a closed writer,
// which may have gzipped it already, or any other one for nil.
func Compress(path string, written *Writer) (newPath string, err error) {
	newPath = path + ".gz"
	if _, err := os.Lstat(newPath); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("compress %s: %s: %w", path, newPath, fs.ErrExist)
	}
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close() // no effect after the Close below
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(newPath)+".tmp*")
	if err != nil {
		return "", err
	}
	err = errors.Join(compress(temp, from, written), temp.Close(), from.Close())
	if err == nil {
		err = os.Rename(temp.Name(), newPath)
	}
	if err != nil {
		os.Remove(temp.Name())
		return "", err
	}
	syncDir(filepath.Dir(path))
	return newPath, os.Remove(path)
}

func compress(to, from *os.File, written *Writer) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if written != nil && written.gzipped.z != nil && written.gzipped.length == info.Size() {
		err = written.gzipped.z.Close()
		_, e := written.gzipped.out.WriteTo(to)
		err = errors.Join(err, e)
	} else {
		blocks := bufio.NewWriterSize(to, 1<<16)
		z, _ := gzip.NewWriterLevel(blocks, gzip.BestSpeed)
		_, err = io.Copy(z, from)
		err = errors.Join(err, z.Close(), blocks.Flush())
	}
	return errors.Join(err, to.Chmod(info.Mode().Perm()), to.Sync())
}

// syncDir makes a rename survive a power cut, where the system supports it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync() // some file systems cannot
		d.Close()
	}
}
