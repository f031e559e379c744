package attach

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// sent is a frame as it comes out of a socket.
func sent(t *testing.T, f frame) (out frame) {
	t.Helper()
	var b bytes.Buffer
	assert.Fine(t, gob.NewEncoder(&b).Encode(&f))
	assert.Fine(t, gob.NewDecoder(&b).Decode(&out))
	return out
}

func sameText(a, b metrics.LogEntry) bool { return a.Text == b.Text }

// A viewer puts together what the run was, snapshot by snapshot: also a goodput of nothing, and objectives that were
// taken away.
func TestFrames(t *testing.T) {
	plan := &metrics.Plan{ModelID: "m"}
	second := func(n int) metrics.ClientSecond {
		return metrics.ClientSecond{At: time.Duration(n) * time.Second, Sent: n}
	}
	nothing := 0.0
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}
	var from sender
	var to receiver
	for i, s := range []metrics.Snapshot{
		{Plan: plan, Objectives: slo},
		{Plan: plan, Objectives: slo, Client: []metrics.ClientSecond{second(1)},
			Marks: []metrics.LogEntry{{Text: "a"}}},
		{
			Plan: plan, Objectives: metrics.SLO{}, Client: []metrics.ClientSecond{second(1), second(2)},
			Marks:  []metrics.LogEntry{{Text: "a"}},
			Report: &metrics.Report{Counts: metrics.Counts{Completed: 3}, Goodput: &nothing, Objectives: metrics.SLO{}},
		},
	} {
		f := from.next(s)
		if n := len(f.Snapshot.Client); n > 1 || (f.Snapshot.Plan != nil) != (i == 0) {
			t.Errorf("frame %d has %d seconds, plan %v", i, n, f.Snapshot.Plan)
		}
		got, ok := to.next(sent(t, f))
		same := cmp.Equal(got.Plan, s.Plan) && cmp.Equal(got.Objectives, s.Objectives) &&
			cmp.Equal(got.Client, s.Client) && slices.EqualFunc(got.Marks, s.Marks, sameText)
		if !ok || !same {
			t.Errorf("snapshot %d is %+v, was %+v", i, got, s)
		}
		if s.Report != nil && (got.Report.Goodput == nil || *got.Report.Goodput != 0 || got.Report.Objectives == nil) {
			t.Errorf("the report is %+v", got.Report)
		}
	}
	for name, f := range map[string]frame{
		"seconds that are missing": {Client: 3, Marks: 1},
		"a place before all":       {Client: 2, Marks: -1},
	} {
		if _, ok := to.next(f); ok {
			t.Errorf("%s: it fits", name)
		}
	}
	if _, ok := (&receiver{}).next(frame{}); ok {
		t.Error("a run without a plan fits")
	}
}

// A viewer says why it cannot join, or saw no more.
func TestViewerFails(t *testing.T) {
	for _, c := range []struct {
		name   string
		words  reply
		frames []frame
		joined bool
		want   string
	}{
		{"another version, unrefused", reply{Attach: protocol + 1, Version: "v2"}, nil, false,
			"the run uses benchtop v2, this is benchtop v1"},
		{"a frame without a plan", reply{Attach: protocol}, []frame{{}}, true,
			"the run is gone: a snapshot that does not follow the one before"},
		{"the end of the run is missing", reply{Attach: protocol}, nil, true, "the run is gone: EOF"},
		{"finished", reply{Attach: protocol},
			[]frame{{Snapshot: metrics.Snapshot{Plan: &metrics.Plan{}, State: metrics.Finished}}}, true, ""},
	} {
		near, far := net.Pipe()
		var talking sync.WaitGroup
		talking.Go(func() {
			defer far.Close()
			if json.NewDecoder(far).Decode(new(hello)) != nil || json.NewEncoder(far).Encode(c.words) != nil {
				return
			}
			frames := gob.NewEncoder(far)
			for _, f := range c.frames {
				_ = frames.Encode(&f)
			}
		})
		v := &Viewer{conn: near, snapshots: make(chan metrics.Snapshot, 1)}
		in, err := v.greet("v1")
		assert.Equal(t, err == nil, c.joined, "%s: %v", c.name, err)
		if err == nil {
			v.read(in)
			err = v.Err()
		}
		assert.Fails(t, c.name, err, c.want)
		_ = near.Close()
		talking.Wait()
		if said, ok := v.Command(metrics.Command{Do: metrics.Pause}); ok || said != "the run does not listen" {
			t.Errorf("%s: said %q afterwards", c.name, said)
		}
	}
}

// A run without a host has no viewers.
func TestNoHost(t *testing.T) {
	var h *Host
	h.Close()
	assert.Equal(t, h.Viewers(), 0, "viewers")
}

// A viewer joins minutes itself: they are not sent.
func TestMinutesAreNotSent(t *testing.T) {
	var s metrics.Snapshot
	s.Plan = &metrics.Plan{}
	for i := range 70 {
		s.Windows = append(s.Windows,
			&metrics.Window{Start: time.Duration(i) * time.Second, Counts: metrics.Counts{Completed: i}})
	}
	s.Minutes = s.Minutes.Follow(&s, 0)
	var from sender
	var to receiver
	f := from.next(s)
	got, ok := to.next(sent(t, f))
	if !ok || len(f.Snapshot.Minutes.Windows) > 0 || len(s.Minutes.Windows) != 1 ||
		!cmp.Equal(got.Minutes.Windows[0].Completed, s.Minutes.Windows[0].Completed) {
		t.Errorf("%d minutes sent, %d received", len(f.Snapshot.Minutes.Windows), len(got.Minutes.Windows))
	}
}

// A viewer has minutes in place of seconds long past once the run has them.
func TestFramesOfJoinedSeconds(t *testing.T) {
	var s metrics.Snapshot
	s.Plan = &metrics.Plan{}
	second := func(i int) {
		at := time.Duration(i) * time.Second
		s.Windows = append(s.Windows, &metrics.Window{Start: at, Counts: metrics.Counts{Completed: i}})
		s.Server = append(s.Server, metrics.ServerSecond{At: at + time.Second, Took: time.Second, Running: float64(i)})
		s.GPUs = append(s.GPUs, metrics.GPUSecond{At: at + time.Second, Took: time.Second,
			GPUs: []metrics.GPU{{Use: 1}}})
	}
	var from sender
	var to receiver
	pass := func() {
		t.Helper()
		s.Minutes = metrics.Minutes{}.Follow(&s, 0)
		got, ok := to.next(sent(t, from.next(s)))
		same := cmp.Comparer(func(a, b metrics.Histogram) bool { return a.Count() == b.Count() })
		if diff := cmp.Diff(s, got, same); diff != "" || !ok {
			t.Errorf("the viewer has (-run +viewer):\n%s", diff)
		}
	}
	for i := range 250 {
		second(i)
	}
	pass()
	past := metrics.Minutes{Server: s.Minutes.Server[:2], GPUs: s.Minutes.GPUs[:2]}
	s.Windows = slices.Concat(s.Minutes.Windows[:2], s.Windows[120:])
	s.Telemetry.Join(past, 0)
	second(250)
	pass()
	second(251)
	pass()
}
