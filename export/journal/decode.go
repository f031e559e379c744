package journal

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/valyala/fastjson"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

const (
	longestRun   = metrics.LongestRun
	largestCount = metrics.LargestCount
	// mostValues bounds what the parser takes for a line, which is a hundred bytes for each value.
	mostValues = 1 << 20
)

// lineDecoder reads the lines of a journal.
type lineDecoder struct {
	parser fastjson.Parser
	inner  *fields // of the fact read last
	older  *older  // nil for a journal of today's version
}

// header reads the first line.
func (d *lineDecoder) header(line []byte) (event.Event, error) {
	plan, written, err := decodeHeader(line)
	if written == 1 {
		d.older = &older{}
	}
	return event.Event{Kind: event.Fact, Value: plan}, err
}

// before returns the facts that come before an event, just read, for which an older journal has no lines.
func (d *lineDecoder) before(e event.Event) []event.Event {
	if d.older == nil {
		return nil
	}
	return d.older.before(e, d.inner)
}

// decode returns the event of any line but the first. Its values share nothing with the line.
func (d *lineDecoder) decode(line []byte) (event.Event, error) {
	line, chunks := cutChunks(line)
	if len(line) > mostValues && valuesIn(line) > mostValues {
		return event.Event{}, fmt.Errorf("expected a line of at most %d values", mostValues)
	}
	v, err := d.parser.ParseBytes(line)
	if err != nil {
		text := err.Error() // quotes what could not be read, which may be the whole line
		return event.Event{}, fmt.Errorf("expected a line of JSON: %s", appendString(nil, text[:min(len(text), 120)]))
	}
	o, err := v.Object()
	if err != nil {
		return event.Event{}, errors.New("expected a JSON object")
	}
	f := fields{o: o}
	if o.Get("index") != nil {
		q := f.request()
		if chunks != nil {
			q.Chunks = chunks
		}
		return event.Event{At: q.Done, Kind: event.Done, Request: &q}, f.err
	}
	for _, l := range lines {
		if o.Get(l.key) != nil {
			d.inner = f.object(l.key)
			at, value := l.read(d.inner)
			return event.Event{At: at, Kind: event.Fact, Value: value}, d.inner.err
		}
	}
	return event.Event{}, errUnknownLine
}

// fields reads the values of an object. It remembers the first thing that is not as expected.
type fields struct {
	o   *fastjson.Object
	err error
}

func (f *fields) fail(key, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("%q: expected %s", key, want)
	}
}

func (f *fields) object(key string) *fields {
	o, err := f.o.Get(key).Object()
	if err != nil {
		f.fail(key, "an object")
		return &fields{o: &fastjson.Object{}, err: f.err}
	}
	return &fields{o: o}
}

// optional is nil where the key is not there.
func (f *fields) optional(key string) *fields {
	if f.o.Get(key) == nil {
		return nil
	}
	return f.object(key)
}

// inherit takes over what went wrong in an object inside this one.
func (f *fields) inherit(inner *fields) {
	if f.err == nil {
		f.err = inner.err
	}
}

func (f *fields) request() metrics.Request {
	q := metrics.Request{
		Index: f.count("index"), Conversation: f.count("conversation"), Turn: f.count("turn"),
		Session: f.text("session"), Parent: f.text("parent"),
		ID: f.text("id"), Model: f.text("model"),
		Scheduled: f.moment("scheduled_us"), Due: f.moment("due_us"), Admitted: f.moment("admitted_us"),
		Sent: f.moment("sent_us"), Encode: f.span("encode_us"), Connect: f.span("connect_us"),
		FirstChunk: f.moment("first_chunk_us"), VLLMLater: f.span("vllm_later_us"), FirstToken: f.moment("first_token_us"),
		FirstAnswer: f.moment("first_answer_us"), LastChunk: f.moment("last_chunk_us"), Done: f.moment("done_us"),
		Chunks: f.chunks(),
		Inputs: f.count("inputs"), InputTokens: f.count("input_tokens"), OutputTokens: f.count("output_tokens"),
		InputSource:  metrics.TokenSource(f.text("input_source")),
		OutputSource: metrics.TokenSource(f.text("output_source")),
		CachedTokens: f.count("cached_tokens"), MaxTokens: f.count("max_tokens"),
		ServerQueue: f.moment("server_queue_us"), ServerPrefill: f.moment("server_prefill_us"),
		Finish: f.text("finish"), Failure: metrics.Failure(f.text("failure")), Status: f.count("status"),
		Error: f.text("error"), Text: f.text("text"), TextPart: f.truth("text_part"), Redials: f.count("redials"),
		ReadDelay: metrics.Never,
	}
	if q.DatasetTokens = q.InputTokens; f.o.Get("dataset_tokens") != nil {
		q.DatasetTokens = f.count("dataset_tokens")
	}
	return q
}

func (f *fields) count(key string) int {
	v := f.o.Get(key)
	if v == nil {
		return 0
	}
	return f.whole(key, v)
}

func (f *fields) whole(key string, v *fastjson.Value) int {
	n, err := v.Int64()
	if err != nil || n < -largestCount || n > largestCount {
		f.fail(key, "a whole number below 2^53")
		return 0
	}
	return int(n)
}

func (f *fields) text(key string) string {
	v := f.o.Get(key)
	if v == nil {
		return ""
	}
	b, err := v.StringBytes()
	if err != nil {
		f.fail(key, "a text")
		return ""
	}
	if !utf8.Valid(b) {
		return strings.ToValidUTF8(string(b), string(utf8.RuneError))
	}
	return string(b)
}

func (f *fields) moment(key string) time.Duration {
	v := f.o.Get(key)
	if v == nil {
		return metrics.Never
	}
	return f.microseconds(key, v)
}

func (f *fields) span(key string) time.Duration {
	v := f.o.Get(key)
	switch {
	case v == nil:
		return 0
	case v.Type() == fastjson.TypeNull:
		return metrics.Never
	}
	return f.microseconds(key, v)
}

func (f *fields) microseconds(key string, v *fastjson.Value) time.Duration {
	us, err := v.Int64()
	if limit := longestRun.Microseconds(); err != nil || us < -limit || us > limit {
		f.fail(key, fmt.Sprintf("whole microseconds, at most %d days", longestRun/(24*time.Hour)))
		return 0
	}
	return time.Duration(us) * time.Microsecond
}

func (f *fields) chunks() []metrics.Chunk {
	gaps := f.array("chunks_us")
	if len(gaps) == 0 {
		return nil
	}
	out := make([]metrics.Chunk, len(gaps))
	at := time.Duration(0)
	for i, v := range gaps {
		at += f.microseconds("chunks_us", v)
		if at < -longestRun || at > longestRun {
			f.fail("chunks_us", "gaps that add up to a time within the run")
			return nil
		}
		out[i] = metrics.Chunk{At: at, Tokens: 1}
	}
	if f.o.Get("chunk_tokens") == nil {
		return out
	}
	tokens := f.array("chunk_tokens")
	if len(tokens) != len(out) {
		f.fail("chunk_tokens", "one count for each of chunks_us")
		return nil
	}
	for i, v := range tokens {
		n, err := v.Int64()
		if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
			f.fail("chunk_tokens", "whole numbers of 32 bits")
			return nil
		}
		out[i].Tokens = int32(n)
	}
	return out
}

func (f *fields) array(key string) []*fastjson.Value {
	v := f.o.Get(key)
	if v == nil {
		return nil
	}
	a, err := v.Array()
	if err != nil {
		f.fail(key, "an array")
	}
	return a
}

// valuesIn is about how many values a line of JSON has: commas outside of texts.
func valuesIn(line []byte) (n int) {
	text := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			text = !text
		case '\\':
			i++ // within a text alone
		case ',':
			if !text {
				n++
			}
		}
	}
	return n
}

// A damaged journal can ask only for so much: readers keep its facts.
const (
	// mostSeconds of one kind: twelve days at one a second.
	mostSeconds = 12 * 24 * 60 * 60
	// mostEvents and mostEventBytes bound the log: one line for each second of most of a day, and a long one for each.
	mostEvents     = 1 << 16
	mostEventBytes = 32 << 20
	// mostReadings bounds those of all looks at accelerators: eight of them for three days.
	mostReadings = 1 << 21
	// mostRecounts bounds the counts of answers that came later, mostStates what says what is in force: a day of ramps.
	mostRecounts = 1 << 22
	mostStates   = 1 << 20
)

// limits count what a journal has said so far.
type limits struct {
	client, server, gpus, readings, events, eventBytes, recounts, states int
	names                                                                []string // of the accelerators of the last look
}

var (
	errMuchLog    = fmt.Errorf("expected at most %d events, and %d MiB of them", mostEvents, mostEventBytes>>20)
	errManyStates = fmt.Errorf("expected at most %d lines of load, phase, source and saving", mostStates)
)

// allow counts a fact in. The error says that there are too many of its kind.
func (l *limits) allow(fact any) error {
	second := func(n *int, of string) error {
		if *n++; *n > mostSeconds {
			return fmt.Errorf("expected at most %d seconds of the %s", mostSeconds, of)
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
		if l.events > mostEvents || l.eventBytes > mostEventBytes {
			return errMuchLog // not made anew: there may be millions
		}
	case metrics.ClientSecond:
		return second(&l.client, "client")
	case metrics.ServerSecond:
		return second(&l.server, "server")
	case metrics.GPUSecond:
		l.share(x.GPUs)
		if l.readings += len(x.GPUs); l.readings > mostReadings {
			return fmt.Errorf("expected at most %d readings of accelerators", mostReadings)
		}
		return second(&l.gpus, "accelerators")
	case metrics.Recount:
		if l.recounts++; l.recounts > mostRecounts {
			return fmt.Errorf("expected at most %d counts of answers", mostRecounts)
		}
	case metrics.Steering, metrics.Phase, metrics.Source, metrics.Saving:
		if l.states++; l.states > mostStates {
			return errManyStates
		}
	}
	return nil
}

// share gives accelerators the names of the look before, which hardly ever change, so that each is in memory once.
func (l *limits) share(gpus []metrics.GPU) {
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
