package saturation

import "benchtop/metrics"

// lastSet is how the last setting of the load turned out.
type lastSet struct {
	// held: a search made it, and it was in force to the end. found: the search says that it held.
	held, found bool
}

func lastOf(sets []Setting) lastSet {
	if len(sets) == 0 {
		return lastSet{}
	}
	s := &sets[len(sets)-1]
	return lastSet{held: s.By == metrics.BySearch && !s.Paused && !s.Ramping(), found: s.found}
}

// held makes what a search held in the end the answer: a higher load that passed for a while may not have lasted. It counts
// where the search says that it held; one that had no time to end must be within the objectives.
func (l *Levels) held(a *metrics.Answer) {
	n := len(l.list)
	if l.plan.Find == nil || !l.last.held || n == 0 || len(l.SLO) == 0 {
		return
	}
	v := &l.list[n-1]
	if v.set == nil || v.To != l.end || v.Requests < fewestRequests {
		return // it was too short to tell
	}
	if len(v.Limited) > 0 || v.Standing == metrics.LevelBehind || !l.last.found && v.Standing != metrics.LevelWithin {
		return
	}
	enough, _ := l.plan.EnoughGood()
	a.Within, a.Highest, a.HighestLevel, a.Sure = true, v.Achieved(), n-1, sureOf(v.Good, v.Requests, enough)
}
