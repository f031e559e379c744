package sweep

import (
	"iter"
	"math"
	"time"

	"benchtop/internal/files"
	"benchtop/internal/search"
	"benchtop/metrics"
	"benchtop/metrics/report"
	"benchtop/metrics/saturation"
)

// judge holds a run against each set: the requests of its journal, which is beside the file of its record, and the figures of that.
func judge(sets []Set, file string, record Record) ([]search.Evidence, error) {
	events, err := files.ReadRun(file)
	if err != nil {
		return nil, err
	}
	run, requests, err := report.Gather(events)
	if err != nil {
		return nil, err
	}
	plan := &run.Plan
	from, to, err := extent(plan, requests)
	if err != nil {
		return nil, err
	}
	var pace saturation.Pace
	all := make([]judgement, len(sets))
	for i, s := range sets {
		all[i] = judgement{set: s, ratios: make([][]float64, max(1, len(s.Criteria)))}
	}
	for q := range counted(plan, requests) {
		if at := plan.LoadTime(q); q.OK() {
			pace.Add(at, from, to, q.FirstChunk-at, q.LastChunk-at)
		} else {
			pace.Fail()
		}
		o := q.OutcomeWithGaps(nil)
		for i := range all {
			all[i].add(plan, q, &o)
		}
	}
	kept := pace.Completed(to - from)
	if plan.InUsers() {
		kept = pace.Succeeded()
	}
	var evidence []search.Evidence
	for i := range all {
		e := all[i].evidence(plan, record)
		e.Missed = e.Missed || kept < metrics.EnoughCompleted
		evidence = append(evidence, e)
	}
	return evidence, nil
}

// counted are the requests of a run but those of its warm-up and those that were cut.
func counted(plan *metrics.Plan, requests iter.Seq2[metrics.Request, error]) iter.Seq[*metrics.Request] {
	return func(yield func(*metrics.Request) bool) {
		for q, err := range requests {
			if err == nil && !plan.Warming(&q) && q.Failure != metrics.Cancelled && !yield(&q) {
				return
			}
		}
	}
}

// extent is from when to when the load asked for requests. The error is of the journal.
func extent(plan *metrics.Plan, requests iter.Seq2[metrics.Request, error]) (from, to time.Duration, err error) {
	for _, problem := range requests {
		if problem != nil {
			return 0, 0, problem
		}
	}
	first := true
	for q := range counted(plan, requests) {
		if at := plan.LoadTime(q); at != metrics.Never {
			if to = max(to, at); first || at < from {
				from, first = at, false
			}
		}
	}
	return from, to, nil
}

// judgement collects how far the requests of a run are from the limits of a set: a list of ratios for each criterion, one for a tier.
type judgement struct {
	set    Set
	ratios [][]float64
}

// add adds a request. A failed one is within no limit.
func (j *judgement) add(plan *metrics.Plan, q *metrics.Request, o *metrics.Outcome) {
	if j.set.Tier != nil {
		j.ratios[0] = append(j.ratios[0], saturation.Ratio(plan, j.set.Tier, q))
		return
	}
	for i, c := range j.set.Criteria {
		switch {
		case c.Percentile == 0:
		case !q.OK():
			j.ratios[i] = append(j.ratios[i], math.Inf(1))
		case c.Latency == metrics.ITL:
			for _, gap := range o.ITLs {
				j.ratios[i] = append(j.ratios[i], c.ratio(1000*gap))
			}
		default:
			if v, times := c.Latency.Exact(o); times > 0 {
				j.ratios[i] = append(j.ratios[i], c.ratio(1000*v))
			}
		}
	}
}

// evidence is that of the run. Of several criteria the one counts that is furthest from being met.
func (j *judgement) evidence(plan *metrics.Plan, record Record) (worst search.Evidence) {
	if j.set.Tier != nil {
		share, _ := plan.EnoughGood()
		return search.EvidenceOf(j.ratios[0], share)
	}
	first := true
	for i, c := range j.set.Criteria {
		if !c.upper() {
			continue
		}
		e := search.EvidenceOf(j.ratios[i], c.Percentile/100)
		if c.Percentile == 0 {
			e = c.ofRun(record.Number(c.Key))
		}
		if first || further(e, worst) {
			worst, first = e, false
		}
	}
	return worst
}

// further reports whether a is further from being met than b.
func further(a, b search.Evidence) bool {
	if a.Passed() != b.Passed() {
		return b.Passed()
	}
	return a.Ratio > b.Ratio
}

// ofRun is the evidence of a figure of the run: one observation, of which most have to meet the criterion.
func (c Criterion) ofRun(v float64) search.Evidence {
	e := search.Evidence{Requests: 1, Share: 0.5}
	if r := c.ratio(v); r > 0 {
		e.Ratio = r
	}
	if e.Missed = !c.met(v); !e.Missed {
		e.Good = 1
	}
	return e
}

// unmet are the criteria that ask for at least a figure, and that the runs of a load do not meet on average.
func (s Set) unmet(records []Record) (all []Criterion) {
	for _, c := range s.Criteria {
		sum := 0.0
		for _, r := range records {
			sum += r.Number(c.Key)
		}
		if !c.upper() && !c.met(sum/float64(len(records))) {
			all = append(all, c)
		}
	}
	return all
}
