package journal

import (
	"errors"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// lines are those of facts, {"key":{…}}, by their keys.
var lines = []struct {
	key string
	// read returns the fact, and the moment at which it was told as far as its line says.
	read func(f *fields) (at time.Duration, fact any)
}{
	{"recount", func(f *fields) (time.Duration, any) { return metrics.Never, f.recount() }},
	{"event", func(f *fields) (time.Duration, any) { e := f.log(); return e.At, e }},
	{"load", func(f *fields) (time.Duration, any) { return f.moment("at_us"), f.load() }},
	{"phase", func(f *fields) (time.Duration, any) { return f.moment("at_us"), f.phase() }},
	{"source", func(f *fields) (time.Duration, any) { return f.moment("at_us"), f.source() }},
	{"saving", func(f *fields) (time.Duration, any) { return f.moment("at_us"), f.saving() }},
	{"client", func(f *fields) (time.Duration, any) { s := f.client(); return s.At, s }},
	{"server", func(f *fields) (time.Duration, any) { s := f.server(); return s.At, s }},
	{"gpus", func(f *fields) (time.Duration, any) { s := f.gpus(); return s.At, s }},
	{"end", func(f *fields) (time.Duration, any) { e := f.end(); return e.Ended, e }},
}

var errUnknownLine = func() error {
	var keys []string
	for _, l := range lines {
		keys = append(keys, l.key)
	}
	return errors.New("expected a request (\"index\") or one of: " + strings.Join(keys, ", "))
}()

// appendFact appends the line of a fact. One that is no part of a journal is left out.
func appendFact(b []byte, e event.Event) []byte {
	open := func(key string) []byte { return append(append(append(b, `{"`...), key...), `":{`...) }
	moment := func(key string) []byte { return appendMoment(open(key), "at_us", e.At) }
	switch x := e.Value.(type) {
	case metrics.Recount:
		b = appendRecount(open("recount"), &x)
	case metrics.LogEntry:
		b = appendLog(open("event"), &x)
	case metrics.Steering:
		b = appendLoad(moment("load"), &x)
	case metrics.Phase:
		b = appendPhase(moment("phase"), &x)
	case metrics.Source:
		b = appendSource(moment("source"), &x)
	case metrics.Saving:
		b = appendSaving(moment("saving"), &x)
	case metrics.ClientSecond:
		b = appendClient(open("client"), &x)
	case metrics.ServerSecond:
		b = appendServer(open("server"), &x)
	case metrics.GPUSecond:
		b = appendGPUs(open("gpus"), &x)
	case metrics.End:
		b = appendEnd(open("end"), &x)
	default:
		return b
	}
	return append(b, "}}\n"...)
}
