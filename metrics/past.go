package metrics

import (
	"slices"
	"sort"
	"time"
)

const (
	// secondsKept are the last seconds of a run that are not joined: charts of seconds go back so far.
	secondsKept = 60 * perMinute
	// joinedAtOnce are the minutes that are joined together, as viewers elsewhere get all seconds after them anew.
	joinedAtOnce = 10
)

// PastSecond is what the judge must know of a second besides the minute that it was joined to. It does not change with
// a request that ends later.
type PastSecond struct {
	Gaps      Histogram // between chunks
	TTFTParts TTFTParts
	Reported  *ServerTimes // nil for none
}

// Joined is how many windows at the start are minutes.
func Joined(windows []*Window) int {
	return sort.Search(len(windows), func(i int) bool { return windows[i].Seconds == 0 })
}

// place is where the window of a second is.
func (t *Timeline) place(second int) int {
	if second < t.joined*perMinute {
		return second / perMinute
	}
	return second - t.joined*(perMinute-1)
}

// Join replaces seconds long past by their minutes, given those of the last call of Share, and returns these; nil for
// none. A later change, as by a request that lasts so long, changes the minute.
func (t *Timeline) Join(minutes []*Window) (joined []*Window) {
	from, end := t.joined, t.joined+joinedAtOnce*perMinute
	if len(minutes) < from+joinedAtOnce || len(t.windows) < end+secondsKept || min(t.dirty, t.packed) < end {
		return nil
	}
	var places []*second
	for k := range joinedAtOnce {
		minute := &second{Window: *minutes[from+k], shown: true}
		for _, s := range t.windows[from+k*perMinute:][:perMinute] {
			minute.held, minute.waiting, minute.running =
				minute.held+s.held, minute.waiting+s.waiting, minute.running+s.running
			p := PastSecond{Gaps: s.Histograms[ITL], TTFTParts: s.TTFTParts}
			if told := s.Reported; told != (ServerTimes{}) {
				p.Reported = &told
			}
			p.Gaps.Pack()
			t.Past = append(t.Past, p)
		}
		places, joined = append(places, minute), append(joined, &minute.Window)
	}
	t.windows = slices.Replace(t.windows, from, end, places...)
	gone := end - from - len(places)
	t.dirty, t.packed, t.joined = t.dirty-gone, t.packed-gone, from+len(places)
	return joined
}

// Join replaces the samples of minutes by one for each, but for those of the warm-up.
func (t *Telemetry) Join(m Minutes, warmup time.Duration) {
	server := sort.Search(len(t.Server), func(i int) bool { return t.Server[i].At > warmup })
	gpus := sort.Search(len(t.GPUs), func(i int) bool { return t.GPUs[i].At > warmup })
	t.Server = slices.Concat(t.Server[:server], m.ServerIn(t.Server[server:]))
	t.GPUs = slices.Concat(t.GPUs[:gpus], m.GPUsIn(t.GPUs[gpus:]))
}
