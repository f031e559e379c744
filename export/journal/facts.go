package journal

import (
	"errors"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// kinds are those of facts, {"key":{…}}, by their keys.
var kinds = []struct {
	key string
	// read returns the fact, and the moment at which it was told as far as its line says.
	read func(l *line) (at time.Duration, fact any)
}{
	{"recount", func(l *line) (time.Duration, any) { return metrics.Never, fact(l.recount) }},
	{"event", func(l *line) (time.Duration, any) { e := fact(l.log); return e.At, e }},
	{"load", func(l *line) (time.Duration, any) { return l.at(), fact(l.load) }},
	{"phase", func(l *line) (time.Duration, any) { return l.at(), fact(l.phase) }},
	{"source", func(l *line) (time.Duration, any) { return l.at(), fact(l.source) }},
	{"saving", func(l *line) (time.Duration, any) { return l.at(), fact(l.saving) }},
	{"client", func(l *line) (time.Duration, any) { s := fact(l.client); return s.At, s }},
	{"server", func(l *line) (time.Duration, any) { s := fact(l.server); return s.At, s }},
	{"gpus", func(l *line) (time.Duration, any) { s := fact(l.gpus); return s.At, s }},
	{"end", func(l *line) (time.Duration, any) { e := fact(l.end); return e.Ended, e }},
}

// fact is what values reads.
func fact[T any](values func(*T)) (v T) {
	values(&v)
	return v
}

// at reads the moment of a fact that has none of its own.
func (l *line) at() (at time.Duration) {
	l.moment("at_us", &at)
	return at
}

var errUnknownKind = func() error {
	var keys []string
	for _, l := range kinds {
		keys = append(keys, l.key)
	}
	return errors.New("expected a request (\"index\") or one of: " + strings.Join(keys, ", "))
}()

// appendFact appends the line of a fact. One that is no part of a journal is left out.
func appendFact(b []byte, e event.Event) []byte {
	l := line{b: b}
	switch x := e.Value.(type) {
	case metrics.Recount:
		l.begin("recount").recount(&x)
	case metrics.LogEntry:
		l.begin("event").log(&x)
	case metrics.Steering:
		l.begin("load").moment("at_us", &e.At)
		l.load(&x)
	case metrics.Phase:
		l.begin("phase").moment("at_us", &e.At)
		l.phase(&x)
	case metrics.Source:
		l.begin("source").moment("at_us", &e.At)
		l.source(&x)
	case metrics.Saving:
		l.begin("saving").moment("at_us", &e.At)
		l.saving(&x)
	case metrics.ClientSecond:
		l.begin("client").client(&x)
	case metrics.ServerSecond:
		l.begin("server").server(&x)
	case metrics.GPUSecond:
		l.begin("gpus").gpus(&x)
	case metrics.End:
		l.begin("end").end(&x)
	default:
		return b
	}
	return append(l.b, "}}\n"...)
}

// begin writes the key of a fact.
func (l *line) begin(key string) *line {
	l.b = append(append(append(l.b, `{"`...), key...), `":{`...)
	return l
}

// load in force. A rate may be unlimited.
func (l *line) load(s *metrics.Steering) {
	l.setting(&s.LoadSetting)
	l.flag("steerable", &s.Steerable)
	l.flag("in_users", &s.InUsers)
	text(l, "why", &s.Why)
	l.natural("changes", &s.Changes)
	text(l, "search", &s.Search)
}

func (l *line) phase(p *metrics.Phase) {
	text(l, "state", &p.State)
	l.moment("drain_by_us", &p.DrainBy)
}

func (l *line) source(s *metrics.Source) {
	text(l, "name", &s.Name)
	text(l, "kind", &s.Kind)
	text(l, "absent", &s.Absent)
}

func (l *line) saving(s *metrics.Saving) {
	text(l, "path", &s.Path)
	text(l, "problem", &s.Problem)
}

func (l *line) recount(r *metrics.Recount) {
	l.count("index", &r.Index)
	l.count("output_tokens", &r.Tokens)
	text(l, "output_source", &r.Source)
}

// version1 makes up the facts for which a journal of version 1 has no lines: the load in force follows from the loads that were
// set, and the line of the end says what could be read.
type version1 struct {
	steering     metrics.Steering
	server, gpus time.Duration // of the last look
}

// before returns the facts that come before an event, none for a journal of today's version. end reads the line of the end.
func (o *version1) before(e event.Event, end *line) []event.Event {
	if o == nil {
		return nil
	}
	fact := func(at time.Duration, value any) event.Event {
		return event.Event{At: at, Kind: event.Fact, Value: value}
	}
	switch x := e.Value.(type) {
	case metrics.LogEntry:
		if x.Set == nil {
			return nil
		}
		o.steering.LoadSetting = *x.Set
		o.steering.Changes++
		if x.Set.Users > 0 || x.Set.Rate > 0 {
			o.steering.InUsers = x.Set.Users > 0
		}
		return []event.Event{fact(e.At, o.steering)}
	case metrics.ServerSecond:
		o.server = max(o.server, x.At)
	case metrics.GPUSecond:
		o.gpus = max(o.gpus, x.At)
	case metrics.End:
		kind := end.text("server_kind")
		return []event.Event{
			fact(0, metrics.Source{Name: metrics.ServerCounters, Kind: kind}),
			fact(o.server, metrics.Source{Name: metrics.ServerCounters, Kind: kind, Absent: end.text("server_absent")}),
			fact(o.gpus, metrics.Source{Name: metrics.Accelerators, Absent: end.text("gpus_absent")}),
		}
	}
	return nil
}
