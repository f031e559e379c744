package export

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"benchtop/metrics"
)

const (
	// killed is the reason of a run whose journal has no end line.
	killed = "the process was killed: its journal has no end"
	// damaged is the reason of a run whose journal cannot be read to the end.
	damaged = "the journal is damaged"
	// longestLine in bytes bounds the memory a damaged journal can ask for. A request with a million chunks and its text
	// stays well below.
	longestLine = 64 << 20
)

// ReadJournal reads the journal of a run, plain or gzipped. It looks through the whole file once for what it says about
// the run; the requests are read again, one at a time, whenever the iterator is ranged over.
//
// A last line that was cut is dropped: the process was killed while it wrote it. A journal without an end has
// Run.Ended = metrics.Never and a Run.Reason. The error says that this is no journal at all; damage further on comes
// from the iterator, in its place after the requests before it, and names file and line.
func ReadJournal(path string) (metrics.Run, iter.Seq2[metrics.Request, error], error) {
	run := metrics.Run{Ended: metrics.Never, Reason: killed}
	headed := false
	for e, err := range scanFile(path) {
		switch {
		case err != nil && !headed:
			return metrics.Run{}, nil, err
		case err != nil:
			run.Reason = damaged
		case e.plan != nil:
			run.Plan, headed = *e.plan, true
		case e.event != nil:
			run.Events = append(run.Events, *e.event)
		case e.end != nil:
			run.Ended, run.Reason, run.Unsent = e.end.Ended, e.end.Reason, e.end.Unsent
		}
	}
	return run, requests(func() iter.Seq2[entry, error] { return scanFile(path) }), nil
}

// requests picks the requests out of a journal, which is scanned anew each time.
func requests(open func() iter.Seq2[entry, error]) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for e, err := range open() {
			switch {
			case err != nil:
				yield(metrics.Request{}, err)
				return
			case e.request != nil && !yield(*e.request, nil):
				return
			}
		}
	}
}

func scanFile(path string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(entry{}, err)
			return
		}
		defer f.Close()
		for e, err := range scanAny(f, path) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// scanAny scans a journal that may be gzipped, which its first bytes tell.
func scanAny(r io.Reader, name string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		in := bufio.NewReaderSize(r, 1<<16)
		var plain io.Reader = in
		if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
			z, err := gzip.NewReader(in)
			if err != nil {
				yield(entry{}, fmt.Errorf("%s: %w", name, err))
				return
			}
			plain = z
		}
		scan(plain, name)(yield)
	}
}

// scan yields the lines of a journal and stops after the first error.
func scan(r io.Reader, name string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		lines := lineReader{r: bufio.NewReaderSize(r, 1<<16)}
		var d lineDecoder
		ended := false
		for {
			line, whole, err := lines.next()
			if err == io.EOF && lines.n > 1 {
				return
			}
			var e entry
			switch {
			case err == io.EOF:
				err = errors.New("expected a benchtop journal, found nothing")
			case err != nil:
			case lines.n == 1:
				e, err = decodeHeader(line)
			case ended:
				err = errors.New("expected nothing after the end line")
			default:
				e, err = d.decode(line)
			}
			if err != nil && !whole && lines.n > 1 && lines.eof {
				return // cut while it was written
			}
			if err != nil {
				yield(entry{}, fmt.Errorf("%s, line %d: %w", name, lines.n, err))
				return
			}
			ended = e.end != nil
			if !yield(e, nil) {
				return
			}
		}
	}
}

// lineReader reads lines of any length up to longestLine.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
	n   int  // the number of the current line, from 1
	eof bool // the current line runs to the end of the file
}

// next returns the next line, valid until the one after it, and whether it had its newline. After the last line the
// error is io.EOF.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	l.n++
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil && len(l.buf) == 0 {
			return part[:len(part)-1], true, nil
		}
		if len(l.buf)+len(part) > longestLine {
			return nil, false, fmt.Errorf("expected a line of at most %d MiB", longestLine>>20)
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil:
			return l.buf[:len(l.buf)-1], true, nil
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(l.buf) > 0:
			l.eof = true
			return l.buf, false, nil
		default:
			return nil, false, err
		}
	}
}
