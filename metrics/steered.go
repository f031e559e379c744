package metrics

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// mostSettings bounds the settings of a run that are looked at: a journal may hold any number.
const mostSettings = 10_000

// FoundMark is the mark of the event by which a search says that the load it set last held.
const FoundMark = "found"

// setting is a load that was set at a moment.
type setting struct {
	at time.Duration
	LoadSetting
	found bool // a search says that it held
}

// mostLoad bounds loads that come from a file, in requests per second or users.
const mostLoad = 1e9

// sensible is a load that arithmetic can hold.
func sensible(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(0, v), mostLoad)
}

// settings are the loads that were set while the run was on, in order of time.
func settings(events []LogEntry) []setting {
	var all []setting
	for i := range events {
		if e := &events[i]; e.Set != nil && len(all) < mostSettings {
			s := setting{at: min(max(0, e.At), maxWindows*time.Second), LoadSetting: *e.Set}
			s.Rate, s.RampTo, s.Users = sensible(s.Rate), sensible(s.RampTo), min(max(0, s.Users), mostLoad)
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b setting) int { return cmp.Compare(a.at, b.at) })
	if n := len(all); n > 0 {
		last := &all[n-1]
		last.found = slices.ContainsFunc(events, func(e LogEntry) bool { return e.Mark == FoundMark && e.At >= last.at })
	}
	return all
}

// hands counts the loads that the plan did not set.
func hands(sets []setting) (n int) {
	for i := range sets {
		if sets[i].By != ByPlan {
			n++
		}
	}
	return n
}

// lastObjectives are those that were set last, or the plan's.
func lastObjectives(p *Plan, events []LogEntry) SLO {
	slo, at := p.Goodput, time.Duration(math.MinInt64)
	for i := range events {
		if e := &events[i]; e.Objectives != nil && e.At >= at {
			slo, at = chosen(*e.Objectives), e.At
		}
	}
	return slo
}

// chosen is an SLO that was set: no objectives at all are not the same as none set.
func chosen(slo SLO) SLO {
	if slo == nil {
		return SLO{}
	}
	return slo
}

// inUsers reports whether the setting counts users rather than requests per second.
func (s *LoadSetting) inUsers() bool { return s.Users > 0 }

// from is the load at the moment of the setting.
func (s *LoadSetting) from() float64 {
	if s.inUsers() {
		return float64(s.Users)
	}
	return s.Rate
}

// unnamed reports whether the setting only ends a pause: what the plan has for the time goes on.
func (s *LoadSetting) unnamed() bool {
	return !s.Paused && s.Users <= 0 && !(s.Rate > 0) && !s.ramping()
}

// ramping reports whether the load moves on by itself.
func (s *LoadSetting) ramping() bool { return s.RampOver > 0 && s.RampTo > 0 && !s.Paused }

// LoadAt is the load, in requests per second or users, when so much time has passed since it was set; 0 while it is paused.
func (s *LoadSetting) LoadAt(passed time.Duration) float64 {
	switch {
	case s.Paused:
		return 0
	case !s.ramping():
		return s.from()
	}
	line := Ramp{From: s.from(), To: s.RampTo, Over: s.RampOver}
	return line.RateAt(passed)
}

// stretch is a part of the run in which one setting was in force. Its load stays or changes all the time.
type stretch struct {
	from, to time.Duration
	load     LoadSetting
	since    time.Duration // when the load was set
}

// stretches are the parts of a run from the first change of the load to end, pauses aside. What sets a load that is in force
// already changes nothing; a ramp is a stretch, and what comes after it another.
func stretches(sets []setting, end time.Duration) []stretch {
	var all []stretch
	add := func(s stretch) {
		if s.to <= s.from || s.load.Paused {
			return
		}
		if n := len(all); n > 0 && all[n-1].continues(&s) {
			all[n-1].to = s.to
			return
		}
		all = append(all, s)
	}
	for i, set := range sets {
		to := end
		if i+1 < len(sets) {
			to = min(to, sets[i+1].at)
		}
		s := stretch{from: set.at, to: to, load: set.LoadSetting, since: set.at}
		if set.ramping() {
			top := set.at + min(set.RampOver, maxWindows*time.Second)
			add(stretch{from: s.from, to: min(top, to), load: s.load, since: s.since})
			s.from, s.load = top, set.arrived()
		}
		add(s)
	}
	return all
}

// arrived is the load after a ramp.
func (s *LoadSetting) arrived() LoadSetting {
	out := LoadSetting{By: s.By}
	if s.inUsers() {
		out.Users = int(math.Round(s.RampTo))
	} else {
		out.Rate = s.RampTo
	}
	return out
}

// continues reports whether another stretch goes on with the same steady load.
func (s *stretch) continues(o *stretch) bool {
	return s.to == o.from && !s.load.ramping() && !o.load.ramping() && s.load.Rate == o.load.Rate && s.load.Users == o.load.Users
}

// mean is the average load of a part of the stretch.
func (s *stretch) mean(from, to time.Duration) float64 {
	return s.load.LoadAt(from/2 + to/2 - s.since) // it is linear, and cut where the ramp ends
}
