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

// appendLoad appends the load in force. A rate may be unlimited.
func appendLoad(b []byte, s *metrics.Steering) []byte {
	b = appendSetting(b, &s.LoadSetting)
	b = appendTruth(b, "steerable", s.Steerable)
	b = appendTruth(b, "in_users", s.InUsers)
	b = appendText(b, "why", s.Why)
	b = appendNatural(b, "changes", s.Changes)
	return appendText(b, "search", s.Search)
}

// load reads what appendLoad wrote.
func (f *fields) load() metrics.Steering {
	return metrics.Steering{
		LoadSetting: f.setting(), Steerable: f.truth("steerable"), InUsers: f.truth("in_users"), Why: f.text("why"),
		Changes: f.natural("changes"), Search: f.text("search"),
	}
}

func appendPhase(b []byte, p *metrics.Phase) []byte {
	return appendMoment(appendText(b, "state", string(p.State)), "drain_by_us", p.DrainBy)
}

// phase reads what appendPhase wrote.
func (f *fields) phase() metrics.Phase {
	return metrics.Phase{State: metrics.State(f.text("state")), DrainBy: f.moment("drain_by_us")}
}

func appendSource(b []byte, s *metrics.Source) []byte {
	b = appendText(b, "name", string(s.Name))
	b = appendText(b, "kind", s.Kind)
	return appendText(b, "absent", s.Absent)
}

// source reads what appendSource wrote.
func (f *fields) source() metrics.Source {
	return metrics.Source{Name: metrics.SourceName(f.text("name")), Kind: f.text("kind"), Absent: f.text("absent")}
}

func appendSaving(b []byte, s *metrics.Saving) []byte {
	return appendText(appendText(b, "path", s.Path), "problem", s.Problem)
}

// saving reads what appendSaving wrote.
func (f *fields) saving() metrics.Saving {
	return metrics.Saving{Path: f.text("path"), Problem: f.text("problem")}
}

func appendRecount(b []byte, r *metrics.Recount) []byte {
	b = appendCount(b, "index", r.Index)
	b = appendCount(b, "output_tokens", r.Tokens)
	return appendText(b, "output_source", string(r.Source))
}

// recount reads what appendRecount wrote.
func (f *fields) recount() metrics.Recount {
	return metrics.Recount{Index: f.count("index"), Tokens: f.count("output_tokens"), Source: metrics.TokenSource(f.text("output_source"))}
}

// older makes up the facts for which a journal of version 1 has no lines: the load in force follows from the loads that were
// set, and the line of the end says what could be read.
type older struct {
	steering     metrics.Steering
	server, gpus time.Duration // of the last look
}

// before returns the facts that come before an event. end reads the line of the end.
func (o *older) before(e event.Event, end *fields) []event.Event {
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
