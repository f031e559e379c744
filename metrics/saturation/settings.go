package saturation

import (
	"cmp"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// MostSettings bounds the settings of a run, since a journal may hold any number.
const MostSettings = 10_000

// Setting is a load that was set at a moment.
type Setting struct {
	At time.Duration
	metrics.LoadSetting
	found bool // a search reports that it held
}

// mostLoad bounds loads that come from a file, in requests per second or users.
const mostLoad = 1e9

// sensible is a load within the bounds of arithmetic.
func sensible(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(0, v), mostLoad)
}

// Settings are the loads that were set during the run, in order of time.
func Settings(events []metrics.LogEntry) []Setting {
	var all []Setting
	for i := range events {
		if e := &events[i]; e.Set != nil && len(all) < MostSettings {
			s := Setting{At: min(max(0, e.At), metrics.MaxWindows*time.Second), LoadSetting: *e.Set}
			s.Rate, s.RampTo, s.Users = sensible(s.Rate), sensible(s.RampTo), min(max(0, s.Users), mostLoad)
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Setting) int { return cmp.Compare(a.At, b.At) })
	if n := len(all); n > 0 {
		last := &all[n-1]
		last.found = slices.ContainsFunc(events, func(e metrics.LogEntry) bool { return e.Mark == metrics.FoundMark && e.At >= last.At })
	}
	return all
}

// inUsers reports whether the setting counts users rather than requests per second.
func inUsers(s *metrics.LoadSetting) bool { return s.Users > 0 }

// unnamed reports whether the setting only ends a pause, so that the load of the plan goes on.
func unnamed(s *metrics.LoadSetting) bool {
	return !s.Paused && s.Users <= 0 && !(s.Rate > 0) && !s.Ramping()
}

// stretch is a part of the run with one setting in force. Its load is constant or ramps all the time.
type stretch struct {
	from, to time.Duration
	load     metrics.LoadSetting
	since    time.Duration // when the load was set
}

// stretches are the parts of a run from the first setting to end, without pauses. A setting of the load in force begins no stretch. A
// ramp is a stretch, and the load after it is another.
func stretches(sets []Setting, end time.Duration) []stretch {
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
			to = min(to, sets[i+1].At)
		}
		s := stretch{from: set.At, to: to, load: set.LoadSetting, since: set.At}
		if set.Ramping() {
			top := set.At + min(set.RampOver, metrics.MaxWindows*time.Second)
			add(stretch{from: s.from, to: min(top, to), load: s.load, since: s.since})
			s.from, s.load = top, arrived(&set.LoadSetting)
		}
		add(s)
	}
	return all
}

// arrived is the load after a ramp.
func arrived(s *metrics.LoadSetting) metrics.LoadSetting {
	if inUsers(s) {
		return metrics.LoadSetting{By: s.By, Users: int(math.Round(s.RampTo))}
	}
	return metrics.LoadSetting{By: s.By, Rate: s.RampTo}
}

// continues reports whether another stretch goes on with the same steady load.
func (s *stretch) continues(o *stretch) bool {
	return s.to == o.from && !s.load.Ramping() && !o.load.Ramping() && s.load.Rate == o.load.Rate && s.load.Users == o.load.Users
}

// mean is the average load of a part of the stretch.
func (s *stretch) mean(from, to time.Duration) float64 {
	return s.load.LoadAt(from/2 + to/2 - s.since) // the load is linear in a stretch
}
