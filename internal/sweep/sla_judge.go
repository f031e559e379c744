package sweep

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"benchtop/internal/files"
	"benchtop/internal/search"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/judge"
	"benchtop/metrics/report"
)

// judgeRun holds a run against each set: the requests of its journal, which is beside the file of its record, and the
// figures of that.
func judgeRun(sets []Set, file string, record Record) ([]search.Evidence, error) {
	source, err := files.ReadRun(file)
	if err != nil {
		return nil, err
	}
	run, requests, err := report.Gather(source(event.Pick{}))
	if err != nil {
		return nil, err
	}
	return judgeRequests(sets, &run.Plan, requests, run.Ended, record)
}

// judgeRequests holds the requests of a run that ended against each set.
func judgeRequests(sets []Set, plan *metrics.Plan, requests iter.Seq2[metrics.Request, error], ended time.Duration,
	record Record) ([]search.Evidence, error) {
	from, to, err := extent(plan, requests)
	if err != nil {
		return nil, err
	}
	share, _ := plan.EnoughGood()
	var tests []judge.Test
	all := make([]judgement, len(sets))
	for i, s := range sets {
		all[i] = judgement{set: s, first: len(tests), ratios: make([][]float64, max(1, len(s.Criteria)))}
		if s.Tier != nil {
			tests = append(tests, judge.Test{Enough: share})
		}
		for _, c := range s.Criteria {
			tests = append(tests, judge.Test{Enough: c.share()})
		}
	}
	sample := judge.NewSample(from, to+time.Microsecond, plan.Unit(), tests...)
	for q := range requests { // without errors, by extent
		if plan.Warming(&q) {
			continue
		}
		f := judge.Summarize(plan, &q)
		sample.Arrived(f.LoadTime)
		sample.Ended(&f)
		if f.Cancelled {
			continue
		}
		o := q.OutcomeWithGaps(nil)
		for i := range all {
			all[i].add(plan, &q, &o, sample)
		}
	}
	verdicts := sample.Verdicts(ended)
	behind := search.Behind(sample) ||
		slices.ContainsFunc(verdicts, func(v metrics.LevelVerdict) bool { return v.Standing == metrics.LevelBehind })
	var evidence []search.Evidence
	for i := range all {
		e := all[i].evidence(plan, record, verdicts)
		e.Length, e.Capacity = to-from, sample.Capacity()
		e.Missed = e.Missed || behind
		evidence = append(evidence, e)
	}
	return evidence, nil
}

// counts reports whether a request counts: those of the warm-up and those that were cut do not.
func counts(plan *metrics.Plan, q *metrics.Request) bool {
	return !plan.Warming(q) && !q.Undecided()
}

// extent is from when to when the load asked for requests. The error is of the journal.
func extent(plan *metrics.Plan, requests iter.Seq2[metrics.Request, error]) (from, to time.Duration, err error) {
	from = metrics.Never
	for q, problem := range requests {
		if problem != nil {
			return 0, 0, problem
		}
		if at := plan.LoadTime(&q); counts(plan, &q) && at != metrics.Never {
			to = max(to, at)
			if from == metrics.Never || at < from {
				from = at
			}
		}
	}
	return max(from, 0), to, nil
}

// judgement collects how far the requests of a run are from the limits of a set: a list of ratios for each criterion,
// one for a tier.
type judgement struct {
	set      Set
	first    int // of its tests
	ratios   [][]float64
	requests int
}

// add adds a request. A failed one is within no limit.
func (j *judgement) add(plan *metrics.Plan, q *metrics.Request, o *metrics.Outcome, sample *judge.Sample) {
	at := plan.LoadTime(q)
	if j.set.Tier != nil {
		r := judge.Ratio(plan, j.set.Tier, q)
		j.ratios[0] = append(j.ratios[0], r)
		sample.Judge(at, j.first, r)
		return
	}
	j.requests++
	for i, c := range j.set.Criteria {
		worst := math.NaN() // of the gaps of a request
		switch {
		case c.Percentile == 0:
		case !q.OK():
			worst = math.Inf(1)
			j.ratios[i] = append(j.ratios[i], worst)
		case c.Latency == metrics.ITL:
			for _, gap := range o.ITLs {
				j.ratios[i] = append(j.ratios[i], c.ratio(1000*gap))
				worst = max(c.ratio(1000*gap), nonNegative(worst))
			}
		default:
			if v, times := c.Latency.Exact(o); times > 0 {
				worst = c.ratio(1000 * v)
				j.ratios[i] = append(j.ratios[i], worst)
			}
		}
		sample.Judge(at, j.first+i, worst)
	}
}

// nonNegative is 0 in place of NaN.
func nonNegative(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// evidence is that of the run. Of several criteria the one counts that is furthest from being met, so that it falls
// with the load whichever that is.
func (j *judgement) evidence(plan *metrics.Plan, record Record,
	verdicts []metrics.LevelVerdict) (worst search.Evidence) {
	if j.set.Tier != nil {
		share, _ := plan.EnoughGood()
		e := search.EvidenceOf(j.ratios[0], share)
		e.Effective, e.Confidence = min(verdicts[j.first].Effective, float64(e.Requests)),
			confidence(&verdicts[j.first])
		return e
	}
	strictest, ratio, sure, first := 0.0, 0.0, metrics.MostConfidence, true
	for _, c := range j.set.Criteria {
		strictest = max(strictest, c.share())
	}
	for i, c := range j.set.Criteria {
		if !c.upper() {
			continue
		}
		e := c.ofRun(record.Number(c.Key))
		if c.Percentile > 0 {
			e = search.EvidenceOf(j.ratios[i], c.share())
		}
		e = onScale(e, strictest, j.requests)
		of := 0.0 // a figure of the run has no confidence
		if c.Percentile > 0 {
			e.Effective = min(verdicts[j.first+i].Effective, float64(e.Requests))
			of = confidence(&verdicts[j.first+i])
		}
		sure = min(sure, of)
		if ratio = max(ratio, e.Ratio); first || further(e, worst) {
			worst, first = e, false
		}
	}
	worst.Ratio, worst.Confidence = ratio, sure
	return worst
}

// confidence that a load is within the objectives, 0 for none.
func confidence(v *metrics.LevelVerdict) float64 {
	if v.Standing != metrics.LevelWithin {
		return 0
	}
	return v.Confidence
}

// onScale is evidence with another share, at least its own, and no more requests than there were: several gaps of one
// request are one observation. The verdict stays, and so does the number of bad ones relative to what the share allows.
func onScale(e search.Evidence, share float64, requests int) search.Evidence {
	n := min(requests, e.Requests)
	if n == 0 || n == e.Requests && share == e.Share {
		return e
	}
	bad := float64(e.Requests-e.Good) * float64(n) / float64(e.Requests)
	if share != e.Share {
		bad *= (1 - share) / (1 - e.Share)
	}
	if e.Passed() {
		bad = math.Floor(bad)
	} else {
		bad = math.Floor(max(bad, (1-share)*float64(n))) + 1
	}
	e.Good, e.Requests, e.Share = n-min(n, int(bad)), n, share
	return e
}

// further reports whether a is further from being met than b, of the same set.
func further(a, b search.Evidence) bool {
	if a.Passed() != b.Passed() {
		return b.Passed()
	}
	return cmp.Or(cmp.Compare(a.Good*b.Requests, b.Good*a.Requests), cmp.Compare(b.Requests, a.Requests)) < 0
}

// share is the part of the observations that has to meet the criterion.
func (c Criterion) share() float64 {
	if c.Percentile == 0 {
		return 0.5
	}
	return c.Percentile / 100
}

// ofRun is the evidence of a figure of the run: one observation, of which most have to meet the criterion.
func (c Criterion) ofRun(v float64) search.Evidence {
	e := search.Evidence{Requests: 1, Share: c.share()}
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
