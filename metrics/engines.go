package metrics

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// MostEngines bounds the engines of a sample: the last one, OtherEngines at OtherServers, has the figures of all
// others.
const (
	MostEngines  = 64
	OtherEngines = "others"
	OtherServers = -1
)

// Engine is a sample of one of several engines: of a server with several, as one with data parallelism, or of several
// servers. Figures are those of ServerSecond.
type Engine struct {
	// Server is its place in Plan.Pages, or where there are none in Plan.Servers, 0 for one server. Name is by which
	// the server tells its engines apart, such as the number of a rank: foreign text; "" where it does not.
	Server int
	Name   string
	// Took is the time of several samples that were joined; 0 for that of the sample.
	Took                                                  time.Duration
	Running, Waiting, KVUsage, PromptTokens, OutputTokens float64
	TTFT                                                  ServerLatency
}

// Page is a page of metrics that was named beside the load, as that of an engine behind a router.
type Page struct {
	// Name is unique among the pages of a plan.
	Name string `json:"name"`
	// Role is what the engine of the page does, such as prefill: those of one role are compared. Pages without a name
	// of their own have the role "".
	Role string `json:"role,omitempty"`
}

// MostPages bounds the pages of a plan, so that each has a row of its own.
const MostPages = MostEngines - 1

// SeveralRoles reports whether engines do different work, so that a request counts at several of them.
func (p *Plan) SeveralRoles() bool {
	return slices.ContainsFunc(p.Pages, func(other Page) bool { return other.Role != p.Pages[0].Role })
}

// PageOf is the page of metrics of an engine; the zero value for one of a server of the load.
func (p *Plan) PageOf(e *Engine) (of Page) {
	if e.Server >= 0 && e.Server < len(p.Pages) {
		of = p.Pages[e.Server]
	}
	return of
}

// EngineName is that of the page or server, where there are several, and that of the engine, unless it is the only one
// of all there.
func (p *Plan) EngineName(e *Engine, all []Engine) string {
	at := cmp.Or(p.PageOf(e).Name, p.ServerURL(e.Server))
	if at != "" && !slices.ContainsFunc(all, func(o Engine) bool { return o.Server == e.Server && o.Name != e.Name }) {
		return at
	}
	return strings.TrimSpace(at + " " + e.Name)
}

// engineSum sums up the samples of an engine.
type engineSum struct {
	Engine
	running, waiting, kv, prompt, output, ttft weightedMean
}

// EnginesOver sums up the samples of each engine after from, in the order in which the engines come: gauges are
// weighted by the time of their sample, changes add up.
func EnginesOver(seconds []ServerSecond, from time.Duration) []Engine {
	var engines numbering[endpoint]
	var sums []engineSum
	for i := range seconds {
		s := &seconds[i]
		for k := range s.Engines {
			e := &s.Engines[k]
			if s.At <= from {
				continue
			}
			place := engines.place(endpoint{e.Server, e.Name}, MostEngines, endpoint{OtherServers, OtherEngines})
			if place > len(sums) {
				key := engines.keys[place-1]
				sums = append(sums, engineSum{Engine: Engine{Server: key.server, Name: key.model}})
			}
			sums[place-1].add(e, min(cmp.Or(e.Took, s.Took), s.At-from))
		}
	}
	return Each(sums, engineSum.engine)
}

func (s *engineSum) add(e *Engine, took time.Duration) {
	s.Took += took
	s.running.add(e.Running, took.Seconds())
	s.waiting.add(e.Waiting, took.Seconds())
	s.kv.add(e.KVUsage, took.Seconds())
	s.prompt.add(e.PromptTokens/took.Seconds(), took.Seconds())
	s.output.add(e.OutputTokens/took.Seconds(), took.Seconds())
	s.ttft.latency(e.TTFT)
}

func (s engineSum) engine() Engine {
	return Engine{Server: s.Server, Name: s.Name, Took: s.Took, Running: s.running.mean(), Waiting: s.waiting.mean(),
		KVUsage: s.kv.mean(), PromptTokens: s.prompt.mean() * s.Took.Seconds(),
		OutputTokens: s.output.mean() * s.Took.Seconds(), TTFT: s.ttft.sum()}
}

// enginesKept is the number of samples, about a quarter of an hour, whose engines are kept each. Those of older ones
// are joined by the minute, so that those of a day take a few megabytes.
const enginesKept = 15 * perMinute

// JoinEngines joins the engines of samples that are older now than enginesKept, and were not when there were only
// so many samples. It changes them.
func (t *Telemetry) JoinEngines(before int) {
	for from := max(0, before-enginesKept) / perMinute * perMinute; from+perMinute+enginesKept <= len(t.Server); {
		minute := t.Server[from : from+perMinute]
		from += perMinute
		joined := EnginesOver(minute, 0)
		for i := range minute {
			minute[i].Engines = nil
		}
		minute[perMinute-1].Engines = joined
	}
}

// file appends a sample of the server.
func (t *Telemetry) file(s ServerSecond) {
	n := len(t.Server)
	if t.Server = append(t.Server, s); s.Engines != nil && n%enginesKept == 0 {
		t.Server = slices.Clone(t.Server) // snapshots have the samples as they were
		t.JoinEngines(max(0, n-enginesKept))
	}
}
