package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"github.com/klauspost/compress/gzip"
	"github.com/valyala/fastjson"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// maxLineBytes bounds the memory for a damaged journal. Requests stay below it: a byte of text takes at most six, as an
// escape, and a chunk about ten.
const maxLineBytes = 6*metrics.MostText + 10*metrics.MostChunks + 1<<20

// Read returns the events of a journal, plain or gzipped, the plan first. The file is read again for each range over
// them.
//
// A last line that was cut is dropped: the process was killed while writing. Any other unreadable line is an
// event.Damage, and so is each line above the limit of its kind. An error before the plan means that the file cannot be
// read or is not a journal; a later one is a failure of the file: a disk error, a truncated gzipped file.
func Read(path string) event.Events { return Source(path)(event.Pick{}) }

// Source is Read for a part of the requests.
func Source(path string) event.Source {
	return func(some event.Pick) event.Events {
		return func(yield func(event.Event, error) bool) {
			f, err := Open(path)
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			defer f.Close()
			from(f, path, some, yield)
		}
	}
}

// Open opens the file of a run. It refuses pipes, which could block forever and can be read only once.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file, and a run is read more than once; write it to a file first",
			path)
	}
	return os.Open(path)
}

// From returns the events of a journal, as Read does, that can be read once. name is for errors. The first bytes show
// whether it is gzipped.
func From(r io.Reader, name string) event.Events {
	return func(yield func(event.Event, error) bool) { from(r, name, event.Pick{}, yield) }
}

func from(r io.Reader, name string, some event.Pick, yield func(event.Event, error) bool) {
	in := bufio.NewReaderSize(r, 1<<16)
	var plain io.Reader = in
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			yield(event.Event{}, fmt.Errorf("%s: %w", name, err))
			return
		}
		plain = z
	}
	scan(plain, name, some, yield)
}

// scan yields the events of a journal and stops after the first error: a first line that is not a journal's, or a
// failing reader.
func scan(r io.Reader, name string, some event.Pick, yield func(event.Event, error) bool) {
	s := scanner{lines: lineReader{r: bufio.NewReaderSize(r, 1<<16)}, only: some.Only}
	s.decoder.plain = some.Plain
	for {
		e, damage, err := s.next()
		switch {
		case err == io.EOF:
			return
		case err != nil:
			yield(event.Event{}, fmt.Errorf("%s, line %d: %w", name, s.lines.n, err))
			return
		case errors.Is(damage, errUnwanted):
			continue
		case damage != nil:
			damage = fmt.Errorf("%s, line %d: %w", name, s.lines.n, damage)
			e = event.Event{Kind: event.Fact, Value: event.Damage{Lines: 1, Err: damage}}
		}
		for _, made := range s.decoder.v1.before(e, s.decoder.inner) {
			if !yield(made, nil) {
				return
			}
		}
		if !yield(e, nil) {
			return
		}
	}
}

// scanner reads the lines of a journal as events.
type scanner struct {
	lines   lineReader
	decoder lineDecoder
	bounds  limits
	ended   bool           // by the end line
	only    func(int) bool // see event.Pick
}

// errUnwanted is of the line of a request that is not decoded.
var errUnwanted = errors.New("not picked")

// unwanted reports whether a line is of a request that is not wanted, without decoding it.
func (s *scanner) unwanted(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte(`{"index":`))
	if s.only == nil || !found {
		return false
	}
	index, ok := (*numbers)(&rest).next(false)
	return ok && !s.only(int(index))
}

// next returns the next event, or why its line is damaged. The error after the last line is io.EOF; so it is for a last
// one that is damaged because its write was interrupted.
func (s *scanner) next() (e event.Event, damage, err error) {
	line, whole, err := s.lines.next()
	switch {
	case err == io.EOF && s.lines.n == 1:
		return e, nil, errors.New("expected a benchtop journal, found nothing")
	case errors.Is(err, errTooLong) && s.lines.n > 1:
		damage = err
	case err != nil:
		return e, nil, err
	case s.lines.n == 1:
		e, err = s.decoder.header(line)
		return e, nil, err
	case s.ended:
		damage = errors.New("expected nothing after the end line")
	case s.unwanted(line):
		return e, errUnwanted, nil
	default:
		if e, damage = s.decoder.decode(line); damage == nil {
			damage = s.bounds.allow(e.Value)
		}
	}
	if damage != nil && !whole && s.lines.eof {
		return e, nil, io.EOF
	}
	_, ends := e.Value.(metrics.End)
	s.ended = s.ended || damage == nil && ends
	return e, damage, nil
}

// lineReader reads lines of up to maxLineBytes.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
	n   int  // line number, from 1
	eof bool // the current line ends at the end of the file
}

var errTooLong = fmt.Errorf("expected a line of at most %d MiB", maxLineBytes>>20)

// next returns the next line, valid until the call after it, and whether it ends in a newline. A line that is too long
// is skipped, with errTooLong. The error after the last line is io.EOF.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	l.n++
	l.buf = l.buf[:0]
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil && len(l.buf) == 0 && !long {
			return part[:len(part)-1], true, nil
		}
		if long = long || len(l.buf)+len(part) > maxLineBytes; long {
			l.buf = l.buf[:0]
			if l.n == 1 { // not a journal: its end is irrelevant
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

const (
	longestRun   = metrics.LongestRun
	largestCount = metrics.LargestCount
	// maxValues bounds the memory of the parser, which takes a hundred bytes for each value.
	maxValues = 1 << 20
)

// lineDecoder reads the lines of a journal.
type lineDecoder struct {
	parser fastjson.Parser
	inner  *line     // the last fact
	v1     *version1 // nil for the current version
	plain  bool      // requests lose their chunks, whose memory is used again
	chunks []metrics.Chunk
}

// header reads the first line.
func (d *lineDecoder) header(line []byte) (event.Event, error) {
	plan, written, err := decodeHeader(line)
	if written == 1 {
		d.v1 = &version1{}
	}
	return event.Event{Kind: event.Fact, Value: plan}, err
}

// decode returns the event of any line but the first. The event shares no memory with the line.
func (d *lineDecoder) decode(raw []byte) (event.Event, error) {
	var buffer []metrics.Chunk
	if d.plain {
		buffer = d.chunks
	}
	raw, chunks := cutChunks(raw, buffer)
	d.chunks = chunks
	if len(raw) > maxValues && valuesIn(raw) > maxValues {
		return event.Event{}, fmt.Errorf("expected a line of at most %d values", maxValues)
	}
	v, err := d.parser.ParseBytes(raw)
	if err != nil {
		text := err.Error() // quotes up to the whole line
		return event.Event{}, fmt.Errorf("expected a line of JSON: %s", appendString(nil, text[:min(len(text), 120)]))
	}
	o, err := v.Object()
	if err != nil {
		return event.Event{}, errors.New("expected a JSON object")
	}
	if o.Get("index") != nil {
		q, err := readRequest(o)
		if chunks != nil {
			q.Chunks = chunks
		}
		if n := len(q.Chunks); err == nil && n > 0 && q.Done != metrics.Never && q.Chunks[n-1].At > q.Done+time.Hour {
			// one of years would make as many seconds of a run
			err = errors.New(`"chunks_us": expected times up to "done_us"`)
		}
		if d.plain {
			q.Chunks = nil
		}
		return event.Event{At: q.Done, Kind: event.Done, Request: q}, err
	}
	l := line{o: o}
	for _, known := range kinds {
		if d.inner = l.object(known.key, false); d.inner != nil {
			at, value := known.read(d.inner)
			return event.Event{At: at, Kind: event.Fact, Value: value}, d.inner.err
		}
	}
	return event.Event{}, errUnknownKind
}

// valuesIn estimates the number of values in a line of JSON: commas outside of texts.
func valuesIn(line []byte) (n int) {
	text := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			text = !text
		case '\\':
			i++ // inside a text
		case ',':
			if !text {
				n++
			}
		}
	}
	return n
}

// Readers keep the facts of a journal in memory, so their number is bounded.
const (
	// maxSeconds bounds the seconds of each kind: twelve days.
	maxSeconds = 12 * 24 * 60 * 60
	// maxEvents and maxEventBytes bound the log: a line every second for most of a day.
	maxEvents     = 1 << 16
	maxEventBytes = 32 << 20
	// maxReadings bounds the readings of GPUs: three days of eight GPUs.
	maxReadings = 1 << 21
	// maxRecounts bounds the late token counts; maxStates bounds load, phase, source and saving: a day of ramps.
	maxRecounts = 1 << 22
	maxStates   = 1 << 20
)

// limits counts the facts of a journal.
type limits struct {
	client, server, gpus, readings, events, eventBytes, recounts, states int
	names                                                                []string // of the GPUs in the last sample
}

var (
	errTooManyEvents = fmt.Errorf("expected at most %d events, and %d MiB of them", maxEvents, maxEventBytes>>20)
	errTooManyStates = fmt.Errorf("expected at most %d lines of load, phase, source and saving", maxStates)
)

// allow counts a fact. The error reports that there are too many of its kind.
func (l *limits) allow(fact any) error {
	second := func(n *int, of string) error {
		if *n++; *n > maxSeconds {
			return fmt.Errorf("expected at most %d seconds of the %s", maxSeconds, of)
		}
		return nil
	}
	switch x := fact.(type) {
	case metrics.LogEntry:
		l.events++
		l.eventBytes += len(x.Text) + len(x.Mark) + len(x.Level)
		if x.Objectives != nil {
			l.eventBytes += len(*x.Objectives) * int(unsafe.Sizeof(metrics.Objective{}))
		}
		if l.events > maxEvents || l.eventBytes > maxEventBytes {
			return errTooManyEvents // one value for millions of lines
		}
	case metrics.ClientSecond:
		return second(&l.client, "client")
	case metrics.ServerSecond:
		return second(&l.server, "server")
	case metrics.GPUSecond:
		l.shareNames(x.GPUs)
		if l.readings += len(x.GPUs); l.readings > maxReadings {
			return fmt.Errorf("expected at most %d readings of accelerators", maxReadings)
		}
		return second(&l.gpus, "accelerators")
	case metrics.Recount:
		if l.recounts++; l.recounts > maxRecounts {
			return fmt.Errorf("expected at most %d counts of answers", maxRecounts)
		}
	case metrics.Steering, metrics.Phase, metrics.Source, metrics.Saving:
		if l.states++; l.states > maxStates {
			return errTooManyStates
		}
	}
	return nil
}

// shareNames replaces GPU names by those of the sample before, so that each name is in memory once.
func (l *limits) shareNames(gpus []metrics.GPU) {
	for i := range gpus {
		switch g := &gpus[i]; {
		case i == len(l.names):
			l.names = append(l.names, g.Name)
		case g.Name == l.names[i]:
			g.Name = l.names[i]
		default:
			l.names[i] = g.Name
		}
	}
}
