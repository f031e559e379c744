package saturation

import (
	"slices"

	"benchtop/metrics"
)

// stand fills in the standing of each level against the objectives of each tier.
func (l *Levels) stand() {
	for i := range l.list {
		v := &l.list[i]
		v.Standing = l.standing(v, 0)
		for k := range v.Others {
			v.Others[k].Standing = l.standing(v, k+1)
		}
	}
}

// standing of a level for a tier, or of several levels at the same load that count together. It is open until half of the offered requests
// have ended. In a search that tells its verdicts these hold, since a search knows which requests are late before they end.
func (l *Levels) standing(v *level, tier int) metrics.Standing {
	of := v.Tier(tier)
	share := metrics.Share(of.Good, of.Requests)
	told, searched := l.verdict(v, tier)
	switch {
	case v.unanswered:
		return metrics.LevelUnanswered
	case tier >= len(l.tiers) || !l.plan.Judges(l.tiers[tier].SLO) || of.Requests == 0:
		return metrics.LevelOpen
	case len(v.Limited) > 0:
		return metrics.LevelLimited
	case searched && told == nil:
		return metrics.LevelOpen
	case searched && told.Within:
		return metrics.LevelWithin
	case !searched && of.Requests < fewestRequests:
		return metrics.LevelOpen
	case !l.plan.Enough(share):
		return metrics.LevelMissed
	case searched:
		return metrics.LevelBehind
	case 2*v.over < v.scheduled:
		return metrics.LevelOpen
	case v.Completed < metrics.EnoughCompleted:
		return metrics.LevelBehind
	}
	return metrics.LevelWithin
}

// verdict is that of a search on a level, nil for none yet. Not ok without a search that tells its verdicts.
func (l *Levels) verdict(v *level, tier int) (told *metrics.SearchTier, ok bool) {
	if len(l.last.borders) == 0 || v.set == nil || v.set.load.By != metrics.BySearch {
		return nil, false
	}
	if tier >= len(v.set.told) {
		return nil, true
	}
	return &v.set.told[tier], true
}

// judged replaces the counts of a level by those that a search judged it by.
func (l *Levels) judged(v *level) {
	for tier := range l.tiers {
		switch told, _ := l.verdict(v, tier); {
		case told == nil:
		case tier == 0:
			v.Requests, v.Good = told.Requests, told.Good
		default:
			v.Others[tier-1].Requests, v.Others[tier-1].Good = told.Requests, told.Good
		}
	}
}

// tier is the highest load within the objectives of a tier.
func (l *Levels) tier(tier int, order []*level) metrics.TierAnswer {
	if len(l.last.borders) > 0 {
		return l.searched(tier)
	}
	a := l.highest(tier, order)
	if tier == 0 {
		l.held(&a)
	}
	return a
}

// searched is the load that a search says is the highest.
func (l *Levels) searched(tier int) (a metrics.TierAnswer) {
	if tier >= len(l.last.borders) || !(l.last.borders[tier].Passed > 0) {
		return a
	}
	var all *level
	for i := range l.list {
		v := &l.list[i]
		told, _ := l.verdict(v, tier)
		switch {
		case told == nil || !v.evidence() || v.set.load.LoadAt(0) != l.last.borders[tier].Passed:
		case all == nil:
			all = v.copy()
		default:
			all.join(v)
			all.index = v.index
		}
	}
	if all != nil {
		a = l.within(all, tier)
	}
	return a
}

// copy is a level that others of the same load can join.
func (v *level) copy() *level {
	out := *v
	out.Others = slices.Clone(v.Others)
	return &out
}

// join counts a level of the same load in.
func (v *level) join(same *level) {
	v.Good, v.Requests = v.Good+same.Good, v.Requests+same.Requests
	for i := range v.Others {
		v.Others[i].Good += same.Others[i].Good
		v.Others[i].Requests += same.Others[i].Requests
	}
	v.over, v.scheduled = v.over+same.over, v.scheduled+same.scheduled
	v.Completed = min(v.Completed, same.Completed)
}

// highest finds the highest load that was within the objectives of a tier together with all lower loads. One level that missed them between
// levels within counts as noise, a second one does not. In a search no level is noise, since the search holds each load long enough.
// Where the load was set, levels of the same load count together.
func (l *Levels) highest(tier int, order []*level) (a metrics.TierAnswer) {
	noise := false
	for k := 0; k < len(order); {
		v := order[k].copy()
		for k++; l.steered && k < len(order) && order[k].Offered == v.Offered; k++ {
			v.join(order[k])
		}
		standing := l.standing(v, tier)
		if standing == metrics.LevelWithin {
			if v.Achieved() > a.Highest { // a higher load may have completed less
				a = l.within(v, tier)
			}
			continue
		}
		between := a.Within && k < len(order) && order[k].Tier(tier).Standing == metrics.LevelWithin
		if noise || !between || l.plan.Find != nil || standing == metrics.LevelOpen {
			return a
		}
		noise = true
	}
	return a
}

// within makes a level the highest one within the objectives of a tier.
func (l *Levels) within(v *level, tier int) metrics.TierAnswer {
	enough, _ := l.plan.EnoughGood()
	of := v.Tier(tier)
	return metrics.TierAnswer{Within: true, Highest: v.Achieved(), HighestLevel: v.index, Confidence: ShareAtLeast(of.Good, of.Requests, enough)}
}

// lastSet is the outcome of the last setting of the load.
type lastSet struct {
	// held: a search set it, and it was in force to the end. found: the search reports that it held.
	held, found bool
	// borders are those that a search told last, a tier each; none for searches of older versions.
	borders []metrics.SearchTier
}

func lastOf(sets []Setting) lastSet {
	if len(sets) == 0 {
		return lastSet{}
	}
	s := &sets[len(sets)-1]
	return lastSet{held: s.By == metrics.BySearch && !s.Paused && !s.Ramping(), found: s.found, borders: s.borders}
}

// held makes the load that a search held in the end the answer, since a higher load that passed for a while may not have lasted. It
// counts where the search reports that it held. Where the search did not end, its level must be within the objectives.
func (l *Levels) held(a *metrics.TierAnswer) {
	n := len(l.list)
	if l.plan.Find == nil || !l.last.held || n == 0 || !l.plan.Judges(l.SLO) {
		return
	}
	v := &l.list[n-1]
	if v.set == nil || v.To != l.end || v.Requests < fewestRequests {
		return // the level is too short
	}
	if !v.evidence() || v.Standing == metrics.LevelBehind || !l.last.found && v.Standing != metrics.LevelWithin {
		return
	}
	*a = l.within(v, 0)
}
