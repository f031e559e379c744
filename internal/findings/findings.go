// Package findings says in words what a run has shown: the load within the objectives, saturation, its cause, the peak
// output. The verdict line, the card, the report and the table of stages print these texts, so that none of them has
// digits of its own. It draws nothing.
package findings

import (
	"math"
	"strings"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// ID is the kind of a finding.
type ID string

const (
	// Within is the load within the objectives of one tier.
	Within ID = "within"
	// Saturation is the load at which the server saturates, the reason for which none is named, or a drift.
	Saturation ID = "saturation"
	// Limit is the bottleneck past saturation.
	Limit ID = "limit"
	// Peak is the highest output over five seconds.
	Peak ID = "peak"
	// Latency is one latency of a run of one load, or of one without objectives.
	Latency ID = "latency"
	// Errors are the failed requests.
	Errors ID = "errors"
	// Answers are those to known prompts that changed under load, Garbage answers that are none for a reader.
	Answers ID = "answers"
	Garbage ID = "garbage"
)

// Severity says how a finding is to be read.
type Severity uint8

const (
	// Note is a figure, or says that something is unknown.
	Note Severity = iota
	// Good is a load that was proven.
	Good
	// Open is an estimate, or may still change.
	Open
	// Bad is a limit that was reached.
	Bad
)

// Finding is one part of the headline. Texts may hold foreign text: the reason of a failure, the name of a tier.
type Finding struct {
	ID ID
	// Tier is the name of the tier in a run with several, else "".
	Tier     string
	Severity Severity
	// Touches are the levels of the run that it names; nil for none.
	Touches []int
	// Long and Short are whole sentences. Value and Brief are the same for a place that has Name before them.
	Long, Short, Name, Value, Brief string
}

// Run is what a snapshot and a report have in common.
type Run struct {
	Plan       *metrics.Plan
	Objectives metrics.SLO
	// Answer is nil before the first verdict.
	Answer *metrics.Answer
	Levels []metrics.LoadLevel
	// Over: nothing changes any more. On: requests are sent, so that a load can be held for longer.
	Over, On bool
	// Done are the requests that Ended without a failure.
	Done, Failed int
	// Peak is the highest output in tokens per second over five seconds.
	Peak float64
	// Checks and Garbage as in a report. FastestTPOT is the least of the load, 0 where it is not known.
	Checks      *metrics.AnswerChecks
	Garbage     []metrics.WrongAnswers
	FastestTPOT time.Duration
	// Percentiles are p50 and p99 of a latency in milliseconds, not known without requests.
	Percentiles func(metrics.Latency) (p50, p99 float64, known bool)
}

// judgedAgain is longer than the time from one verdict of a run that is on to the next.
const judgedAgain = time.Minute

// OfSnapshot is a run so far.
func OfSnapshot(s *metrics.Snapshot) *Run {
	r := &Run{
		Plan: s.Plan, Objectives: s.Objectives, Answer: s.Answer, Levels: s.Levels,
		Over: s.State == metrics.Finished, On: s.State == metrics.Running,
		Done: s.Totals.Ended() - s.Totals.Failed, Failed: s.Totals.Failed, Checks: s.Checks, Garbage: s.Garbage,
	}
	if r.Plan == nil {
		r.Plan = &metrics.Plan{}
	}
	if r.Objectives == nil {
		r.Objectives = r.Plan.Goodput
	}
	if s.Answer != nil {
		r.Peak = s.Answer.PeakOutput
	}
	if !r.Over { // the seconds after the last verdict
		r.Peak = max(r.Peak, metrics.PeakOutput(s.Windows, max(r.Plan.Warmup, s.At-judgedAgain), s.At))
	}
	r.Percentiles = func(l metrics.Latency) (p50, p99 float64, known bool) {
		h := &s.Histograms[l]
		return metrics.Milliseconds(h.Quantile(0.5)), metrics.Milliseconds(h.Quantile(0.99)), h.Count() > 0
	}
	return r
}

// OfReport is a run that is over.
func OfReport(r *metrics.Report) *Run {
	run := &Run{
		Plan: &r.Plan, Objectives: r.Objectives, Answer: &r.Answer, Levels: r.Levels, Over: true,
		Done: r.Counts.Ended() - r.Failed, Failed: r.Failed, Peak: r.Answer.PeakOutput, Checks: r.Checks,
		Garbage: r.Garbage,
		Percentiles: func(l metrics.Latency) (p50, p99 float64, known bool) {
			s := &r.Statistics[l]
			p50, _ = s.Percentile(50)
			p99, known = s.Percentile(99)
			return p50, p99, known && s.N > 0
		},
	}
	if r.Plan.ReadRate == "" { // else it is the reader's
		run.FastestTPOT = time.Duration(r.Statistics[metrics.TPOT].Min * float64(time.Millisecond))
	}
	return run
}

// Findings are those of the headline in the order in which they are read. There are none before a request has ended.
func (r *Run) Findings() []Finding {
	if r.Answer == nil && r.Done+r.Failed == 0 {
		return nil
	}
	tiers := r.Plan.TiersUnder(r.Objectives)
	var out []Finding
	for i := range tiers {
		out = append(out, r.within(tiers, i))
	}
	add := func(f Finding, ok bool) {
		if ok {
			out = append(out, f)
		}
	}
	add(r.saturation())
	add(r.limit())
	add(r.peak())
	if len(tiers) == 0 || r.Steady() {
		add(r.latency(r.Plan.FirstWait()))
		add(r.latency(metrics.ITL))
	}
	add(r.errors())
	add(r.answers())
	add(r.garbage())
	return out
}

// Steady reports whether one load was planned.
func (r *Run) Steady() bool {
	return len(r.Levels) < 2 && len(r.Plan.Stages) < 2 && r.Plan.Ramp == nil && r.Plan.Find == nil
}

// limit is the part of TTFT that limits the server.
func (r *Run) limit() (Finding, bool) {
	if r.Answer == nil || !r.Answer.Saturates || !r.Answer.Bottleneck.Known() {
		return Finding{}, false
	}
	b := r.Answer.Bottleneck
	b.Share = sane(b.Share)
	value := b.String()
	part, _, _ := strings.Cut(value, ",")
	return Finding{ID: Limit, Name: "limit"}.say("limit: ", "limit: ", value, part), true
}

func (r *Run) peak() (Finding, bool) {
	if !(r.Peak > 0) || !r.Plan.Generates() {
		return Finding{}, false
	}
	value := text.Short(sane(r.Peak)) + " tok/s"
	return Finding{ID: Peak, Name: "peak (5 s)"}.say("peak ", "peak ", value, value), true
}

func (r *Run) latency(l metrics.Latency) (Finding, bool) {
	p50, p99, known := r.Percentiles(l)
	if !known || !r.Plan.Measures(l) {
		return Finding{}, false
	}
	name, brief := l.Naming().Title, "p99 "+Milliseconds(p99)
	value := brief
	if p50 > 0 { // not every result has it
		value = "p50 " + Milliseconds(p50) + ", " + brief
	}
	return Finding{ID: Latency, Name: name}.say(name+" ", name+" ", value, brief), true
}

func (r *Run) errors() (Finding, bool) {
	if r.Failed <= 0 {
		return Finding{}, false
	}
	brief := text.Short(float64(r.Failed)) + " errors"
	if r.Failed == 1 {
		brief = "1 error"
	}
	value := brief + ", " + Share(float64(r.Failed)/float64(r.Failed+r.Done))
	return Finding{ID: Errors, Severity: Bad, Name: "errors"}.say("", "", value, brief), true
}

// Done is how a run ended that has no worse conclusion, with its severity. More than half failed is a failed run.
func Done(r *metrics.Report) (words string, severity Severity) {
	switch {
	case r.Interrupted != nil:
		return "DONE early", Open
	case r.Failed > 0:
		return "DONE with errors", Open
	case r.Judges() && !r.Plan.Enough(r.GoodShare()):
		return "DONE, objectives missed", Open
	}
	return "DONE", Good
}

// say fills in the texts: value after long, and brief after short.
func (f Finding) say(long, short, value, brief string) Finding {
	f.Long, f.Short, f.Value, f.Brief = long+value, short+brief, value, brief
	return f
}

// sane cuts a number to what can be written; NaN becomes 0.
func sane(v float64) float64 {
	if math.IsNaN(v) || v < 0 {
		return 0
	}
	return min(v, metrics.LargestCount)
}
