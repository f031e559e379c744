package journal

import (
	"errors"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// kinds are the lines of facts, {"key":{…}}, by key.
var kinds = []struct {
	key string
	// read returns the fact, and its time if the line has one.
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

// fact is the value that a method of line reads.
func fact[T any](values func(*T)) (v T) {
	values(&v)
	return v
}

// at reads the time of a fact without a time of its own.
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

// appendFact appends the line of a fact. Facts without a line are skipped.
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

// load is the load in force. A rate may be unlimited.
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

// version1 derives the facts that a journal of version 1 has no lines for: the load in force from the loads that were set, the
// sources from the end line.
type version1 struct {
	steering     metrics.Steering
	server, gpus time.Duration // time of the last sample
}

// before returns the facts before an event, none for the current version. end is the end line.
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
