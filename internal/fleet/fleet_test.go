package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/internal/fleet/link"
	"benchtop/internal/run"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
)

// bus is a wire in this process that loses what a test says.
type bus struct {
	mu     sync.Mutex
	takers map[string]map[int]func(string, []byte) []byte
	next   int
	lose   func(subject string) bool
}

func newBus() *bus {
	return &bus{takers: map[string]map[int]func(string, []byte) []byte{}, lose: func(string) bool { return false }}
}

func (b *bus) loses(some func(subject string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lose = some
}

func (b *bus) of(subject string) (all []func(string, []byte) []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lose(subject) {
		return nil
	}
	for _, take := range b.takers[subject] {
		all = append(all, take)
	}
	return all
}

func (b *bus) Publish(subject string, data []byte) error {
	for _, take := range b.of(subject) {
		take(subject, slices.Clone(data))
	}
	return nil
}

func (b *bus) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	for _, take := range b.of(subject) {
		if answer := take(subject, data); answer != nil {
			return answer, nil
		}
	}
	return nil, link.ErrNobody
}

func (b *bus) Handle(subject string, take func(string, []byte) []byte) (func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.takers[subject] == nil {
		b.takers[subject] = map[int]func(string, []byte) []byte{}
	}
	b.next++
	n := b.next
	b.takers[subject][n] = take
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.takers[subject], n)
	}, nil
}

func (b *bus) MaxPayload() int { return 1 << 20 }

// led is the run of a member: it notes its orders, and its journal is in memory.
type led struct {
	*journal.Writer
	mu     sync.Mutex
	obeyed []string
	reason string
	sent   atomic.Bool // all of the plan
}

func (l *led) Obey(o run.Order) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.obeyed = append(l.obeyed, fmt.Sprintf("%s %g", o.Do, o.Value))
	return nil
}

func (l *led) Repeat(fact any) { _ = l.Obey(run.Order{Do: fmt.Sprintf("%T", fact)}) }

func (l *led) Suffice(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reason = reason
}

func (l *led) Sending() run.Sending {
	return run.Sending{Dispatched: 7, Open: true, PlanSent: l.sent.Load()}
}

func (l *led) Journal() io.ReaderAt { return l.Writer }

func (l *led) ended() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reason
}

// rig is a fleet of members in virtual time, and the log of the machine that leads.
type rig struct {
	t       *testing.T
	bus     *bus
	fleet   *Fleet
	members []*Member
	runs    []*led
	plan    metrics.Plan
	mu      sync.Mutex
	log     []string
	done    int
	ended   chan struct{}
	stop    context.CancelFunc
}

func (r *rig) Take(e *event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch x := e.Value.(type) {
	case metrics.LogEntry:
		r.log = append(r.log, x.Text)
	default:
		if e.Kind == event.Done {
			r.done++
		}
	}
}

func newRig(t *testing.T, n int) *rig {
	t.Helper()
	r := &rig{t: t, bus: newBus(), ended: make(chan struct{})}
	sample, _ := eventtest.Sample()
	r.plan = sample.Plan
	r.plan.Part.N = n
	var err error
	r.fleet, err = New(t.Context(), r.bus, "v1", n, func(p metrics.Part) Setup { return Setup{Part: p} })
	assert.Fine(t, err)
	for i := range n {
		m := assert.Must(Join(t.Context(), r.bus, "v1", i+1))(t)
		r.members = append(r.members, m)
	}
	return r
}

// begin has the members begin their runs, and the fleet its own.
func (r *rig) begin() {
	r.t.Helper()
	ready := make(chan error, len(r.members))
	for _, m := range r.members {
		plan := r.plan
		plan.Part = m.Part
		go func() {
			_, _, _, err := m.Prepared(r.t.Context(), &plan)
			ready <- err
		}()
	}
	assert.Fine(r.t, r.fleet.Gather(r.t.Context(), &r.plan, nil, func(string) {}))
	at := assert.Must(r.fleet.Start(r.t.Context()))(r.t)
	watching, stop := context.WithCancel(context.Background())
	r.stop = stop
	for _, m := range r.members {
		assert.Fine(r.t, <-ready)
		plan := r.plan
		plan.Part = m.Part
		file := filepath.Join(r.t.TempDir(), "journal")
		assert.Fine(r.t, os.WriteFile(file, nil, 0o600))
		w, _ := journal.NewWriter(nil, plan)
		l := &led{Writer: w}
		r.runs = append(r.runs, l)
		m.Sink()
		assert.Fine(r.t, m.Begin(l, file))
		go m.Watch(watching, true)
	}
	r.fleet.Hear(event.NewStream(at, r))
	go func() {
		_ = r.fleet.Run(context.Background(), datasets.Flow{})
		close(r.ended)
	}()
}

// send has a member send requests.
func (r *rig) send(k, n int) {
	for i := range n {
		q := eventtest.Simple(k+i*len(r.members)+1000*i, time.Second, 50*time.Millisecond, time.Millisecond, 5)
		r.runs[k].Take(&event.Event{At: q.Done, Kind: event.Done, Request: &q})
	}
}

// end ends the run of a member.
func (r *rig) end(k int) {
	r.runs[k].Take(&event.Event{Kind: event.Fact, Value: metrics.End{Ended: time.Second}})
	go func() { _ = r.members[k].End(context.Background()) }()
}

// over waits for the end of the fleet, and ends all.
func (r *rig) over() {
	<-r.ended
	r.stop()
	for _, m := range r.members {
		m.Close()
	}
	r.fleet.Close()
	synctest.Wait()
}

func (r *rig) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.log, "\n")
}

// Orders reach each member once and in order, whatever is lost on the way.
func TestOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		r.begin()
		random := rand.New(rand.NewPCG(1, 1))
		r.bus.loses(func(subject string) bool { return strings.HasPrefix(subject, "order") && random.IntN(2) == 0 })
		var want []string
		for i := range 40 {
			r.fleet.SetRate(float64(i))
			want = append(want, fmt.Sprintf("rate %d", i))
			if i == 7 {
				r.fleet.Tell(metrics.Steering{Changes: 1})
				want = append(want, "metrics.Steering 0")
			}
			time.Sleep(time.Duration(i*73%300) * time.Millisecond)
		}
		r.fleet.Drain(time.Hour)
		want = append(want, "drain 0")
		time.Sleep(time.Minute)
		synctest.Wait()
		for k, l := range r.runs {
			l.mu.Lock()
			assert.EqualAll(t, l.obeyed, want, "part %d obeys", k+1)
			l.mu.Unlock()
			r.end(k)
		}
		if r.fleet.SetRate(3) || r.fleet.Sending() {
			t.Error("a fleet that drains can be steered")
		}
		r.fleet.Abort()
		r.over()
	})
}

// What members sent is all there when the fleet ends, though their words are lost for a time, and that is told.
func TestOutOfSight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		r.begin()
		r.send(0, 10)
		r.send(1, 10)
		time.Sleep(time.Second)
		r.bus.loses(func(subject string) bool { return strings.HasPrefix(subject, "part.2") })
		r.send(1, 5)
		time.Sleep(5 * time.Second)
		r.bus.loses(func(string) bool { return false })
		time.Sleep(2 * time.Second)
		r.end(0)
		r.send(1, 3)
		r.end(1)
		r.over()
		host, _ := os.Hostname()
		want := fmt.Sprintf("part 2 on %s is out of sight: its requests are missing here until it is back\n"+
			"part 2 on %[1]s is back", host)
		if got := r.said(); got != want || r.done != 28 {
			t.Errorf("%d requests, and:\n%s", r.done, got)
		}
		var end metrics.End
		if r.fleet.Finish(&end); end.Reason != "" || r.fleet.Ended() != time.Second {
			t.Errorf("ends with %+v at %s", end, r.fleet.Ended())
		}
	})
}

// killed is the end of the second worker.
var killed = link.Exit{Worker: 2, Err: errors.New("worker 2 ended: signal: killed")}

// A member that does not come back is given up after a minute, or at once where its process has ended.
func TestGivenUp(t *testing.T) {
	for _, exited := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 2)
			r.begin()
			r.send(1, 4)
			time.Sleep(time.Second)
			r.bus.loses(func(subject string) bool { return strings.HasPrefix(subject, "part.2") })
			if exited {
				r.fleet.Exited(killed)
			}
			r.end(0)
			before := time.Now()
			r.over()
			if took := time.Since(before); exited && took > 2*outOfSight || !exited && took < patience {
				t.Errorf("exited %v: it took %s", exited, took)
			}
			end := metrics.End{Unsent: 12} // if the other sent none
			r.fleet.Finish(&end)
			words := map[bool]string{false: "did not come back and may still send; ", true: "did not come back; "}
			told := strings.Contains(r.said(), words[exited]) && end.Unsent == 0
			if end.Reason != metrics.PartsLost+": 1 of 2" || r.done != 4 || !told {
				t.Errorf("%d requests, reason %q:\n%s", r.done, end.Reason, r.said())
			}
		})
	}
}

// The end of one process says nothing of another machine that is out of sight.
func TestOtherExited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		r.begin()
		time.Sleep(time.Second)
		r.bus.loses(func(subject string) bool { return strings.HasPrefix(subject, "part.3") })
		r.fleet.Exited(killed)
		time.Sleep(4 * outOfSight)
		r.bus.loses(func(subject string) bool { return strings.HasPrefix(subject, "part.2") })
		r.end(0)
		r.end(2)
		r.over()
		said := r.said()
		if strings.Count(said, "did not come back; ") != 1 || !strings.Contains(said, "is back") {
			t.Errorf("the log:\n%s", said)
		}
	})
}

// A clock that is wrong changes nothing but the offset that is told.
func TestWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		r.members[0].clock.read = r.members[0].clock.read.Add(time.Hour)
		before := time.Now()
		r.begin()
		if took, offset := time.Since(before), r.fleet.parts[0].clock.Value; took != startsIn || offset != time.Hour {
			t.Errorf("it begins after %s, with an offset of %s", took, offset)
		}
		r.end(0)
		r.over()
	})
}

// A member goes on without the machine that leads, unless only that would end the run.
func TestOrphan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		r.begin()
		r.bus.loses(func(subject string) bool { return subject == subjectAlive })
		time.Sleep(orphaned / 2)
		synctest.Wait()
		assert.Equal(t, r.runs[0].ended(), "", "it ends early")
		time.Sleep(orphaned)
		synctest.Wait()
		assert.Equal(t, r.runs[0].ended(), "the machine that leads the run is out of sight", "it goes on")
		r.end(0)
		r.over()
	})
}

// A machine that hears too late of the start does not begin.
func TestStartTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		ready := make(chan error, 1)
		go func() {
			_, _, _, err := r.members[0].Prepared(t.Context(), &r.plan)
			ready <- err
		}()
		synctest.Wait()
		past := encode(start{At: time.Now().Add(-time.Millisecond)})
		_, err := r.bus.Request(t.Context(), subjectOf(aboutStart, 1), past)
		if err != nil {
			t.Error(err)
		}
		assert.Complains(t, <-ready, "began before this machine")
		r.members[0].Close()
		r.fleet.Close()
		synctest.Wait()
	})
}

// Who is not of the run is refused, with the reason.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		for version, want := range map[string]string{
			"v2": "this is benchtop v2, and the run is led by v1", "v1": "all 2 parts of the run are taken",
		} {
			assert.Complains(t, assert.Failure(Join(t.Context(), r.bus, version, 0)), want)
		}
		_, err := New(t.Context(), r.bus, "v1", 1, nil)
		assert.Complains(t, err, "another machine leads")
		plan := r.plan
		plan.Part, plan.Seed = r.members[0].Part, 99
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _, _, _ = r.members[0].Prepared(ctx, &plan) }()
		err = r.fleet.Gather(t.Context(), &r.plan, nil, func(string) {})
		assert.Complains(t, err, "their plans differ in seed")
		cancel()
		for _, m := range r.members {
			m.Close()
		}
		r.fleet.Close()
		synctest.Wait()
	})
}

// A machine that dies before it is heard of is out of sight, too.
func TestNeverHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		r.bus.loses(func(subject string) bool { return strings.HasPrefix(subject, "part.2") })
		r.begin()
		r.runs[0].sent.Store(true)
		r.fleet.Exited(killed)
		time.Sleep(2 * outOfSight)
		if !r.fleet.PlanSent() || !strings.Contains(r.said(), "is out of sight") {
			t.Errorf("it is waited for:\n%s", r.said())
		}
		var none metrics.End
		if r.fleet.Finish(&none); none.Reason != metrics.PartsLost+": 2 of 2" {
			t.Errorf("without any machine it ends well: %q", none.Reason)
		}
		r.end(0)
		before := time.Now()
		if r.over(); time.Since(before) > 2*outOfSight {
			t.Errorf("it is waited for %s", time.Since(before))
		}
	})
}

// A machine that is out of sight does not keep a run from leaving its plan, and one that was given up is not heard any
// more.
func TestGoesOnWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		r.begin()
		r.send(0, 1)
		r.send(1, 4)
		time.Sleep(time.Second)
		if r.fleet.PlanSent() {
			t.Error("the plan is sent before it is")
		}
		r.bus.loses(func(subject string) bool { return strings.HasPrefix(subject, "part.2") })
		r.runs[0].sent.Store(true)
		time.Sleep(2 * outOfSight)
		if !r.fleet.PlanSent() {
			t.Error("the plan is not sent without the one that is out of sight")
		}
		r.fleet.Exited(killed)
		time.Sleep(time.Second)
		r.bus.loses(func(string) bool { return false })
		r.send(1, 6)
		time.Sleep(time.Second)
		if r.end(0); r.done != 5 {
			t.Errorf("%d requests, want 5", r.done)
		}
		r.over()
	})
}

// What the user asks for by the end holds: requests in flight are cut in time, and who is out of sight then is not
// waited for long.
func TestEndByUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		r.begin()
		if !r.fleet.Sending() {
			t.Error("it may not be steered before the first word")
		}
		time.Sleep(time.Second)
		assert.Equal(t, r.fleet.Dispatched(), 7, "requests of the whole run were handed over")
		r.fleet.Drain(10 * time.Second)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		for k, l := range r.runs {
			l.mu.Lock()
			assert.EqualAll(t, l.obeyed, []string{"drain 0", "abort 0"}, "part %d obeys %v", k+1, l.obeyed)
			l.mu.Unlock()
		}
		r.bus.loses(func(subject string) bool { return strings.HasPrefix(subject, "part.") })
		before := time.Now()
		if r.over(); time.Since(before) > 2*impatience {
			t.Errorf("it took %s", time.Since(before))
		}
	})
}
