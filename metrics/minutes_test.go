package metrics

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// Minutes that follow a run snapshot by snapshot are those of its last one, joined at once.
func TestMinutesFollow(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var s Snapshot
		var m Minutes
		for len(s.Windows) < 400 {
			same := rnd.IntN(len(s.Windows) + 1)
			s.Windows = slices.Clone(s.Windows[:same+(len(s.Windows)-same)*rnd.IntN(2)]) // a replay may go back
			same = min(same, len(s.Windows))
			for n := len(s.Windows) + rnd.IntN(150); len(s.Windows) < n; {
				s.Windows = append(s.Windows, &Window{Start: time.Duration(len(s.Windows)) * time.Second})
			}
			for i := same; i < len(s.Windows); i++ {
				w := s.Windows[i]
				w.Completed, w.Running = rnd.IntN(9), rnd.IntN(100)
				w.Histograms[ITL] = Histogram{}
				w.Histograms[ITL].Add(time.Duration(rnd.IntN(1e8)))
			}
			m = m.Follow(&s, same)
		}
		want := Minutes{}.Follow(&s, 0)
		if len(m.Windows) != (len(s.Windows)-minuteLag)/perMinute || !reflect.DeepEqual(m, want) {
			t.Fatalf("seed %d: %d minutes of %d seconds, want %d, or not the same", seed, len(m.Windows),
				len(s.Windows), len(want.Windows))
		}
	}
}

// A minute has the sums and the means of its seconds.
func TestMinutesJoin(t *testing.T) {
	var s Snapshot
	for i := range 2*perMinute + minuteLag {
		at := time.Duration(i) * time.Second
		w := &Window{Start: at, Counts: Counts{Sent: 3, Completed: i}, TokensOut: 2 * i, Held: 1, Waiting: i,
			Running: 10}
		w.Met[TTFT], w.TTFTParts.N, w.Reported.Queued = 1, 2, 1
		w.Histograms[TTFT].Add(time.Duration(i+1) * time.Millisecond)
		s.Windows = append(s.Windows, w)
		at += time.Second + 3*time.Millisecond // samples are late
		s.Server = append(s.Server,
			ServerSecond{At: at, Took: time.Second, Running: float64(i), KVUsage: 0.5, Waiting: Unsaid(),
				PromptTokens: 7, PrefixQueries: 4, PrefixHits: 1, HitRate: 0.25, Preemptions: Unsaid(),
				TTFT: ServerLatency{N: 2, Mean: time.Duration(i)}})
		s.Client = append(s.Client, ClientSecond{At: at, Took: time.Second, CPU: 2, Cores: 4, Sent: i % 2,
			LateP99: time.Duration(i), LateMax: time.Second, Chunks: 5, Unstamped: 1})
		s.GPUs = append(s.GPUs,
			GPUSecond{At: at, Took: time.Second, GPUs: []GPU{{Index: 1, Use: 0.5, Power: float64(i)}}})
	}
	m := Minutes{}.Follow(&s, 0)
	assert.Need(t, len(m.Windows), 2, "minutes")
	const sum, mean = 60*119 - 60*59/2, 89.5 // of 60 to 119
	w := m.Windows[1]
	if w.Start != time.Minute || w.Seconds != 60 || w.Sent != 180 || w.Completed != sum || w.TokensOut != 2*sum ||
		w.Held != 1 || w.Waiting != 90 ||
		w.Running != 10 || w.Met[TTFT] != 60 || w.TTFTParts.N != 120 || w.Reported.Queued != 60 ||
		w.Histograms[TTFT].Count() != 60 ||
		w.Histograms[TTFT].Mean() != 90500*time.Microsecond {
		t.Errorf("window %+v", w)
	}
	v := &m.Server[1]
	if v.Took != time.Minute || v.At != 2*time.Minute+3*time.Millisecond || v.Running != mean || v.KVUsage != 0.5 ||
		Said(v.Waiting) || v.PromptTokens != 420 ||
		v.HitRate != 0.25 || Said(v.Preemptions) || v.TTFT.N != 120 || math.Abs(float64(v.TTFT.Mean)-mean) > 60 {
		t.Errorf("server %+v", v)
	}
	c := &m.Client[1]
	if c.Took != time.Minute || c.CPU != 2 || c.Cores != 4 || c.Sent != 30 || c.LateP99 != 90 ||
		c.LateMax != time.Second || c.Chunks != 300 || c.Unstamped != 60 {
		t.Errorf("client %+v", c)
	}
	if g := &m.GPUs[1]; g.Took != time.Minute || len(g.GPUs) != 1 || g.GPUs[0].Use != 0.5 || g.GPUs[0].Power != mean {
		t.Errorf("GPUs %+v", g)
	}
}
