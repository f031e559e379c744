package metrics

import (
	"math"
	"slices"
	"sort"
	"time"
)

// Minutes are the whole minutes of a run, each joined from its seconds: a picture of a day takes them in place of
// 86,400 seconds. Minute k begins at k minutes.
type Minutes struct {
	// Windows: counts add up, Held, Waiting and Running are means, rounded.
	Windows []*Window
	// Samples, with At at 0 where a minute has none: changes add up, gauges are means over time, and so are the
	// latencies of the client. Of the accelerators only use and power are means, the other figures are those of the
	// last sample.
	Client []ClientSecond
	Server []ServerSecond
	GPUs   []GPUSecond
}

const (
	perMinute = 60 // seconds
	minuteLag = 5  // seconds after which a minute is joined: its last samples come after its end
)

// Follow returns the minutes of a snapshot, given those of an earlier one of the same run that has the same windows at
// the start. Minutes that did not change are shared. The windows are all from the start of the run.
func (m Minutes) Follow(s *Snapshot, same int) Minutes {
	joined := Joined(s.Windows)
	at := func(minute int) int { return joined + (minute-joined)*perMinute }
	n := joined + max(0, len(s.Windows)-joined-minuteLag)/perMinute
	for n > joined && s.Windows[at(n)-1].Start != time.Duration(n*perMinute-1)*time.Second {
		n-- // a damaged result may lack seconds
	}
	kept := min(len(m.Windows), same, joined+max(0, same-joined)/perMinute, n)
	if kept == n && len(m.Windows) == n {
		return m
	}
	out := Minutes{
		grown(m.Windows, kept, n), grown(m.Client, kept, n), grown(m.Server, kept, n), grown(m.GPUs, kept, n),
	}
	for k := kept; k < n; k++ {
		if k < joined {
			out.Windows[k] = s.Windows[k]
		} else {
			out.Windows[k] = JoinWindows(s.Windows[at(k):at(k+1)])
		}
		out.Client[k] = minuteOf(s.Client, k, (*ClientSecond).second, joinClient)
		out.Server[k] = minuteOf(s.Server, k, (*ServerSecond).second, joinServer)
		out.GPUs[k] = minuteOf(s.GPUs, k, (*GPUSecond).second, joinGPUs)
	}
	return out
}

// In cuts windows of the run into seconds before the first whole minute among them, whole minutes, and seconds after
// the last one.
func (m Minutes) In(ws []*Window) [3][]*Window {
	return joinedIn(ws, m.Windows, func(w **Window) int { return int((*w).Start / time.Second) })
}

// ClientIn cuts samples of the client, which are sorted by time, likewise.
func (m Minutes) ClientIn(all []ClientSecond) [3][]ClientSecond {
	return joinedIn(all, m.Client, (*ClientSecond).second)
}

// ServerIn returns samples of the server, which are sorted by time, with those of whole minutes joined.
func (m Minutes) ServerIn(all []ServerSecond) []ServerSecond {
	cut := joinedIn(all, m.Server, (*ServerSecond).second)
	return slices.DeleteFunc(slices.Concat(cut[:]...), func(s ServerSecond) bool { return s.At == 0 && s.Took == 0 })
}

// GPUsIn does so with samples of the accelerators.
func (m Minutes) GPUsIn(all []GPUSecond) []GPUSecond {
	cut := joinedIn(all, m.GPUs, (*GPUSecond).second)
	return slices.DeleteFunc(slices.Concat(cut[:]...), func(s GPUSecond) bool { return s.At == 0 && s.Took == 0 })
}

// joinedIn cuts what was seen in seconds at the minutes that lie within their time.
func joinedIn[T any](all, minutes []T, second func(*T) int) [3][]T {
	if len(all) == 0 {
		return [3][]T{}
	}
	at := func(minute int) int {
		return sort.Search(len(all), func(i int) bool { return second(&all[i]) >= minute*perMinute })
	}
	from := (second(&all[0]) + perMinute - 1) / perMinute
	to := min(len(minutes), (second(&all[len(all)-1])+1)/perMinute)
	if from >= to {
		return [3][]T{all}
	}
	return [3][]T{all[:at(from)], minutes[from:to], all[at(to):]}
}

// grown are the first of some minutes, with room up to n.
func grown[T any](all []T, kept, n int) []T {
	out := make([]T, n)
	copy(out, all[:kept])
	return out
}

// secondOf is the number of the second of a sample, which is of the time before it.
func secondOf(at time.Duration) int { return int((at+time.Second/2)/time.Second) - 1 }

func (s *ClientSecond) second() int { return secondOf(s.At) }
func (s *ServerSecond) second() int { return secondOf(s.At) }
func (s *GPUSecond) second() int    { return secondOf(s.At) }

// minuteOf joins the samples of a minute; the zero value where it has none.
func minuteOf[T any](all []T, k int, second func(*T) int, join func([]T) T) (out T) {
	first := func(k int) int {
		return sort.Search(len(all), func(i int) bool { return second(&all[i]) >= k*perMinute })
	}
	if from, to := first(k), first(k+1); from < to {
		out = join(all[from:to])
	}
	return out
}

// JoinWindows joins at least one window: counts are added, levels are means.
func JoinWindows(ws []*Window) *Window {
	out := &Window{Start: ws[0].Start, Seconds: len(ws)}
	for _, w := range ws {
		out.Counts.Merge(&w.Counts)
		out.TokensIn, out.TokensOut = out.TokensIn+w.TokensIn, out.TokensOut+w.TokensOut
		out.Held, out.Waiting, out.Running = out.Held+w.Held, out.Waiting+w.Waiting, out.Running+w.Running
		out.TTFTParts.Merge(&w.TTFTParts)
		out.Reported.merge(&w.Reported)
		out.Ends = out.Ends.Merge(w.Ends)
	}
	for _, level := range []*int{&out.Held, &out.Waiting, &out.Running} {
		*level = int(math.Round(float64(*level) / float64(len(ws))))
	}
	for l := range out.Histograms {
		for i := range ws { // one latency after the other: its counts stay at hand
			out.Histograms[l].Merge(&ws[i].Histograms[l])
		}
		out.Histograms[l].trim()
	}
	return out
}

func joinServer(all []ServerSecond) ServerSecond {
	out := all[0]
	var gauges [4]weightedMean
	for i := range all {
		s := &all[i]
		if i > 0 {
			out = s.Behind(&out)
		}
		for k, v := range s.gauges() {
			gauges[k].add(*v, s.Took.Seconds())
		}
	}
	out.Engines = EnginesOver(all, 0)
	out.Running, out.Waiting, out.KVUsage = gauges[0].mean(), gauges[1].mean(), gauges[2].mean()
	if !(out.PrefixQueries > 0) {
		out.HitRate = gauges[3].mean()
	}
	return out
}

func joinClient(all []ClientSecond) ClientSecond {
	out := all[len(all)-1]
	var cpu, p99, most weightedMean
	out.Took, out.Sent, out.Chunks, out.Unstamped = 0, 0, 0, 0
	for i := range all {
		c := &all[i]
		cpu.add(c.CPU, c.Took.Seconds())
		if c.Sent > 0 {
			p99.add(float64(c.LateP99), 1)
			most.add(float64(c.LateMax), 1)
		}
		out.Took, out.Sent = out.Took+c.Took, out.Sent+c.Sent
		out.Chunks, out.Unstamped = out.Chunks+c.Chunks, out.Unstamped+c.Unstamped
	}
	out.CPU = cpu.mean()
	if out.Sent > 0 {
		out.LateP99, out.LateMax = time.Duration(p99.mean()), time.Duration(most.mean())
	}
	return out
}

// Together is one sample of the machines of a run at a time: the work of all, and the lateness of the worst.
func Together(all []ClientSecond) ClientSecond {
	out := all[0]
	for i := range all[1:] {
		s := &all[i+1]
		out.CPU, out.CPUWait, out.Cores = out.CPU+s.CPU, out.CPUWait+s.CPUWait, out.Cores+s.Cores
		out.Sent, out.Redials, out.Chunks = out.Sent+s.Sent, out.Redials+s.Redials, out.Chunks+s.Chunks
		out.Shared, out.Unstamped = out.Shared+s.Shared, out.Unstamped+s.Unstamped
		out.Sockets, out.Dialled, out.GCs = out.Sockets+s.Sockets, out.Dialled+s.Dialled, out.GCs+s.GCs
		out.Memory, out.Took, out.At = out.Memory+s.Memory, max(out.Took, s.Took), max(out.At, s.At)
		out.Sched, out.Stall = max(out.Sched, s.Sched), max(out.Stall, s.Stall)
		out.GCPause = max(out.GCPause, s.GCPause)
		out.LateP99, out.LateMax = max(out.LateP99, s.LateP99), max(out.LateMax, s.LateMax)
		out.DelayP50, out.DelayP99 = max(out.DelayP50, s.DelayP50), max(out.DelayP99, s.DelayP99)
		out.DelayMax, out.ClockStep = max(out.DelayMax, s.DelayMax), out.ClockStep || s.ClockStep
	}
	return out
}

func joinGPUs(all []GPUSecond) GPUSecond {
	last := &all[len(all)-1]
	out := GPUSecond{At: last.At, GPUs: slices.Clone(last.GPUs)}
	means := map[int]*[2]weightedMean{} // use and power by accelerator
	for i := range all {
		s := &all[i]
		out.Took += s.Took
		for k := range s.GPUs {
			g := &s.GPUs[k]
			if means[g.Index] == nil {
				means[g.Index] = new([2]weightedMean)
			}
			means[g.Index][0].add(g.Use, s.Took.Seconds())
			means[g.Index][1].add(g.Power, s.Took.Seconds())
		}
	}
	for k := range out.GPUs {
		g := &out.GPUs[k]
		g.Use, g.Power = means[g.Index][0].mean(), means[g.Index][1].mean()
	}
	return out
}
