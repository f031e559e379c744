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

// Killed is the reason of a run whose journal has no end line, as far as a reader of the journal can tell.
const Killed = "its journal has no end, as after a kill or in a copy of a run that was still on"

const (
	// damaged is the reason of a run whose journal cannot be read to the end.
	damaged = "the journal is damaged"
	// longestLine in bytes bounds the memory a damaged journal can ask for. A request stays below: a byte of its text takes six at
	// most, as an escape, and a chunk ten as a rule.
	longestLine = 6*metrics.MostText + 10*metrics.MostChunks + 1<<20
)

// ReadJournal reads the journal of a run, plain or gzipped. It looks through the whole file once for what it says about
// the run; the requests are read again, one at a time, whenever the iterator is ranged over.
//
// A last line that was cut is dropped: the process was killed while it wrote it. Any other line that cannot be read is
// left out and counted in Run.Damaged; an event at the end of Run.Events names the first one. A journal without an end
// has Run.Ended = metrics.Never and a Run.Reason. The error says that the file cannot be read or is no journal at all;
// trouble further on (a disk that fails, a gzipped file that was cut) comes from the iterator, after the requests before
// it.
func ReadJournal(path string) (metrics.Run, iter.Seq2[metrics.Request, error], error) {
	g := gathering{run: metrics.Run{Ended: metrics.Never, Reason: Killed}}
	run := &g.run
	headed := false
	var damage damages
	for e, err := range scanFile(path) {
		damage.note(e.damage)
		switch {
		case err != nil && !headed:
			return metrics.Run{}, nil, err
		case err != nil:
			run.Reason = damaged
		default:
			headed = true
			damage.note(g.add(e))
		}
	}
	if run.Damaged = damage.count; run.Damaged > 0 {
		if run.Ended == metrics.Never {
			run.Reason = damaged
		}
		run.Events = append(run.Events, metrics.Event{At: max(0, run.Ended), Level: metrics.Warn, Text: damage.err().Error()})
	}
	return *run, func(yield func(metrics.Request, error) bool) {
		for e, err := range scanFile(path) {
			g.recounts.apply(e.request)
			if (e.request != nil || err != nil) && !yield(request(e), err) {
				return
			}
		}
	}, nil
}

// request is the request of an entry, an empty one where there is none.
func request(e entry) metrics.Request {
	if e.request == nil {
		return metrics.Request{}
	}
	return *e.request
}

// damages counts lines that cannot be read.
type damages struct {
	count int
	first error
}

func (d *damages) note(err error) {
	if err == nil {
		return
	}
	if d.count == 0 {
		d.first = err
	}
	d.count++
}

func (d *damages) err() error {
	if d.count == 1 {
		return fmt.Errorf("a damaged line of the journal was left out: %w", d.first)
	}
	return fmt.Errorf("%d damaged lines of the journal were left out, the first: %w", d.count, d.first)
}

// openSaved opens the file of a run. A pipe might be waited for without end, and can be read only once.
func openSaved(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file, and a run is read more than once; write it to a file first", path)
	}
	return os.Open(path)
}

func scanFile(path string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		f, err := openSaved(path)
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

// scan yields the lines of a journal, those that cannot be read as damage. It stops after the first error: a first line
// that is none of a journal, or a reader that fails.
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
			case errors.Is(err, errTooLong) && lines.n > 1:
				e, err = entry{damage: err}, nil
			case err != nil:
			case lines.n == 1:
				e, err = decodeHeader(line)
			case ended:
				e.damage = errors.New("expected nothing after the end line")
			default:
				e, e.damage = d.decode(line)
			}
			if err != nil {
				yield(entry{}, fmt.Errorf("%s, line %d: %w", name, lines.n, err))
				return
			}
			if e.damage != nil {
				if !whole && lines.eof {
					return // cut while it was written
				}
				e = entry{damage: fmt.Errorf("%s, line %d: %w", name, lines.n, e.damage)}
			}
			ended = ended || e.end != nil
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

var errTooLong = fmt.Errorf("expected a line of at most %d MiB", longestLine>>20)

// next returns the next line, valid until the one after it, and whether it had its newline. A line that is too long is
// passed over, which errTooLong says. After the last line the error is io.EOF.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	l.n++
	l.buf = l.buf[:0]
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil && len(l.buf) == 0 && !long {
			return part[:len(part)-1], true, nil
		}
		if long = long || len(l.buf)+len(part) > longestLine; long {
			l.buf = l.buf[:0]
			if l.n == 1 { // this is no journal: there is no need to look for its end
				return nil, false, errTooLong
			}
		} else {
			l.buf = append(l.buf, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case long && (err == nil || err == io.EOF):
			return nil, true, errTooLong
		case err == nil:
			return l.buf[:len(l.buf)-1], true, nil
		case err == io.EOF && len(l.buf) > 0:
			l.eof = true
			return l.buf, false, nil
		default:
			return nil, false, err
		}
	}
}
