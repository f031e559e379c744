package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"benchtop/internal/pyjson"
	"benchtop/metrics"
)

// version of the lines. It rises when an older reader would misread them. A run that has none of the lines that are
// new in it, those of checked answers, is of the version before.
const version = 3

func versionOf(plan *metrics.Plan) int {
	if plan.CheckAnswers == 0 {
		return version - 1
	}
	return version
}

// oldest is the oldest version that can be read.
const oldest = 1

type header struct {
	Version int      `json:"benchtop_journal"`
	Plan    planLine `json:"plan"`
}

// planLine is a plan with JSON forms for infinite numbers: each of them is shadowed by a metrics.Rate. The other fields
// are those of the plan.
type planLine struct {
	metrics.Plan
	Burstiness metrics.Rate    `json:"burstiness"`
	Ramp       *rampLine       `json:"ramp,omitempty"`
	Stages     []stageLine     `json:"stages,omitempty"`
	Goodput    []objectiveLine `json:"goodput,omitempty"`
	Tiers      []tierLine      `json:"tiers,omitempty"`
	Gates      []gateLine      `json:"gates,omitempty"`
	GPUPrice   metrics.Rate    `json:"gpu_price,omitempty"`
	Find       *findLine       `json:"find,omitempty"`
}

type rampLine struct {
	metrics.Ramp
	From metrics.Rate `json:"from"`
	To   metrics.Rate `json:"to"`
}

type stageLine struct {
	metrics.Stage
	Rate  metrics.Rate `json:"rate,omitempty"`
	Users int          `json:"users,omitempty"`
}

type objectiveLine struct {
	metrics.Objective
	LimitMS metrics.Rate `json:"limit_ms"`
}

type tierLine struct {
	Name string          `json:"name"`
	SLO  []objectiveLine `json:"slo"`
}

func objectiveLines(slo metrics.SLO) []objectiveLine {
	return metrics.Each(slo,
		func(o metrics.Objective) objectiveLine { return objectiveLine{o, metrics.Rate(o.LimitMS)} })
}

func objectives(lines []objectiveLine) metrics.SLO {
	return metrics.Each(lines, func(o objectiveLine) metrics.Objective {
		return metrics.Objective{Metric: o.Metric, LimitMS: float64(o.LimitMS)}
	})
}

type gateLine struct {
	metrics.Gate
	Limit metrics.Rate `json:"limit"`
}

type findLine struct {
	metrics.Find
	From  metrics.Rate `json:"from"`
	Most  metrics.Rate `json:"most"`
	Users bool         `json:"users,omitempty"`
}

func appendHeader(b []byte, plan metrics.Plan) ([]byte, error) {
	line := planLine{Plan: plan, Burstiness: metrics.Rate(plan.Burstiness), GPUPrice: metrics.Rate(plan.GPUPrice)}
	if f := plan.Find; f != nil {
		line.Find = &findLine{*f, metrics.Rate(f.From), metrics.Rate(f.Most), f.Unit == metrics.Users}
	}
	if r := plan.Ramp; r != nil {
		line.Ramp = &rampLine{*r, metrics.Rate(r.From), metrics.Rate(r.To)}
	}
	for _, s := range plan.Stages {
		line.Stages = append(line.Stages, stageLine{s, metrics.Rate(s.Load.Rate()), s.Load.Users()})
	}
	line.Goodput = objectiveLines(plan.Goodput)
	for _, t := range plan.Tiers {
		line.Tiers = append(line.Tiers, tierLine{t.Name, objectiveLines(t.SLO)})
	}
	for _, g := range plan.Gates {
		line.Gates = append(line.Gates, gateLine{g, metrics.Rate(g.Limit)})
	}
	text, err := json.Marshal(header{versionOf(&plan), line})
	if err != nil {
		return b, err
	}
	return append(appendPrintable(b, string(text)), '\n'), nil
}

func (l *planLine) plan() metrics.Plan {
	p := l.Plan
	p.Burstiness, p.GPUPrice = float64(l.Burstiness), float64(l.GPUPrice)
	if f := l.Find; f != nil {
		if f.Find.From, f.Find.Most = float64(f.From), float64(f.Most); f.Users {
			f.Unit = metrics.Users
		}
		p.Find = &f.Find
	}
	if r := l.Ramp; r != nil {
		r.Ramp.From, r.Ramp.To = float64(r.From), float64(r.To)
		p.Ramp = &r.Ramp
	}
	for _, s := range l.Stages {
		if s.Load = metrics.RequestsPerSecond.Of(float64(s.Rate)); s.Users > 0 {
			s.Load = metrics.Users.Of(float64(s.Users))
		}
		p.Stages = append(p.Stages, s.Stage)
	}
	p.Goodput = objectives(l.Goodput)
	for _, t := range l.Tiers {
		p.Tiers = append(p.Tiers, metrics.Tier{Name: t.Name, SLO: objectives(t.SLO)})
	}
	for _, g := range l.Gates {
		g.Gate.Limit = float64(g.Limit)
		p.Gates = append(p.Gates, g.Gate)
	}
	return p
}

// decodeHeader reads the first line. A journal is unreadable without it, so its errors suggest a remedy.
func decodeHeader(line []byte) (plan metrics.Plan, written int, err error) {
	var h header
	const want = `expected the first line of a benchtop journal, {"benchtop_journal":2,"plan":{…}}`
	const remedy = `if this is a journal, take the first line from another run of the same kind; ` +
		`its requests are the lines below`
	if err := json.Unmarshal(line, &h); err != nil {
		return plan, 0, fmt.Errorf("%s: %w; %s", want, err, remedy)
	}
	switch {
	case h.Version == 0:
		return plan, 0, errors.New(want + "; " + remedy)
	case h.Version < oldest || h.Version > version:
		return plan, 0, fmt.Errorf("this is version %d of the journal, and this benchtop reads versions %d to %d; "+
			"use the benchtop that wrote it", h.Version, oldest, version)
	}
	return h.Plan.plan(), h.Version, nil
}

// appendString appends s as a JSON string. Only characters that are unsafe to print on a terminal are escaped. Invalid
// UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for s != "" {
		n := pyjson.Plain(s)
		b = append(b, s[:n]...)
		if s = s[n:]; s != "" {
			r, size := utf8.DecodeRuneInString(s)
			b = appendSafe(b, r)
			s = s[size:]
		}
	}
	return append(b, '"')
}

// appendPrintable appends JSON and escapes the characters that are unsafe to print on a terminal.
func appendPrintable(b []byte, json string) []byte {
	for _, r := range json {
		if r < 0x7f {
			b = append(b, byte(r))
		} else {
			b = appendSafe(b, r)
		}
	}
	return b
}

// appendSafe appends a character outside ASCII to a JSON string, escaped if it is unsafe to print.
func appendSafe(b []byte, r rune) []byte {
	if r > 0x9f && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
		return utf8.AppendRune(b, r)
	}
	return pyjson.AppendRune(b, r)
}
