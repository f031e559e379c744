package attach

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// run is a run that goes on as long as the test wants.
type run struct {
	recorder *live.View

	mu      sync.Mutex
	control bool
	asked   []string
	looked  metrics.Inspection
}

func newRun() *run {
	plan := &metrics.Plan{ModelID: "m", Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}}
	return &run{recorder: live.NewView(time.Now(), plan)}
}

func (r *run) Snapshot() metrics.Snapshot { return r.recorder.Snapshot() }

func (r *run) Controllable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.control
}

func (r *run) ask(what string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, what)
	return what + " done"
}

func (r *run) Command(c metrics.Command) (string, bool) {
	what := string(c.Do)
	for _, o := range c.Objectives {
		what += " " + o.Metric.Key()
	}
	return r.ask(what), true
}
func (r *run) Inspect(l metrics.Inspection) { r.mu.Lock(); r.looked = l; r.mu.Unlock() }
func (r *run) said() string                 { r.mu.Lock(); defer r.mu.Unlock(); return strings.Join(r.asked, ", ") }
func (r *run) request(i int, sent, took time.Duration) {
	q := metrics.NewRequest(i)
	q.Scheduled, q.Due, q.Admitted, q.Sent = sent, sent, sent, sent
	eventtest.Step(r.recorder, event.Due, &q)
	eventtest.Step(r.recorder, event.Sent, &q)
	q.Add(metrics.Chunk{At: sent + took, Tokens: 1, Answer: true})
	eventtest.Step(r.recorder, event.Chunk, &q)
	q.Done, q.OutputTokens = sent+took, 1
	eventtest.Step(r.recorder, event.Done, &q)
}

// host listens for viewers of a run, in directories of its own.
func host(t *testing.T, r *run) *Host {
	t.Helper()
	places(t)
	h, err := Listen(r, "v1")
	assert.Fine(t, err)
	t.Cleanup(h.Close)
	return h
}

// ownPath is where the socket of this process is first.
func ownPath() string { return socketOf(directories()[0], os.Getpid()) }

func join(t *testing.T, h *Host) *Viewer {
	t.Helper()
	v, err := Dial(ownPath(), "v1")
	assert.Fine(t, err)
	t.Cleanup(v.Close)
	return v
}

// until waits for a snapshot that is as wanted.
func until(t *testing.T, v *Viewer, want func(metrics.Snapshot) bool) metrics.Snapshot {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case s, ok := <-v.Snapshots():
			if !ok {
				t.Fatalf("no more snapshots: %v", v.Err())
			}
			if want(s) {
				return s
			}
		case <-limit:
			t.Fatal("it did not come")
		}
	}
}

// eventually waits until what is known of the run is as wanted.
func eventually[T comparable](t *testing.T, want T, known func() T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		got := known()
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is %+v, want %+v", got, want)
		}
	}
}

func TestViewerSeesTheRun(t *testing.T) {
	r := newRun()
	r.request(0, 10*time.Millisecond, 40*time.Millisecond)
	eventtest.Tell(r.recorder, metrics.Steering{Why: "so"})
	h := host(t, r)
	v := join(t, h)
	first := until(t, v, func(s metrics.Snapshot) bool { return s.Totals.Completed == 1 })
	live := r.Snapshot()
	if first.Plan.ModelID != "m" || first.Steering.Why != "so" || first.Histograms[metrics.TTFT].Count() != 1 ||
		first.Windows[0].Histograms[metrics.TTFT].Quantile(0.5) != live.Histograms[metrics.TTFT].Quantile(0.5) {
		t.Errorf("the first snapshot is %+v", first)
	}
	r.request(1, 60*time.Millisecond, 20*time.Millisecond)
	eventtest.Tell(r.recorder, metrics.ServerSecond{At: time.Second, Running: 3, KVUsage: metrics.Unsaid()})
	eventtest.Tell(r.recorder, metrics.LogEntry{At: time.Second, Text: "it happened", Mark: "x"})
	s := until(t, v, func(s metrics.Snapshot) bool { return s.Totals.Completed == 2 && len(s.Server) == 1 })
	if s.Plan == nil || s.Windows[0].Completed != 2 || len(s.Marks) != 1 || metrics.Said(s.Server[0].KVUsage) {
		t.Errorf("the second snapshot is %+v", s)
	}
	goodput := 0.0
	r.recorder.Finish(&metrics.Report{Plan: *r.Snapshot().Plan, Counts: metrics.Counts{Completed: 2}, Goodput: &goodput,
		Rows: make([]metrics.Row, 2)})
	s = until(t, v, func(s metrics.Snapshot) bool { return s.State == metrics.Finished })
	if s.Report == nil || s.Report.Completed != 2 || s.Report.Goodput == nil || s.Report.Rows != nil {
		t.Errorf("the report is %+v", s.Report)
	}
	h.Close() // its requests could still be looked at until then
	if _, more := <-v.Snapshots(); more || v.Err() != nil {
		t.Errorf("after the end: %v", v.Err())
	}
}

func TestCommands(t *testing.T) {
	r := newRun()
	h := host(t, r)
	v := join(t, h)
	until(t, v, func(metrics.Snapshot) bool { return true })
	v.Command(metrics.Command{Do: metrics.Pause})
	until(t, v, func(s metrics.Snapshot) bool { return s.Notice == readOnly })
	if v.Controls() || r.said() != "" {
		t.Errorf("a viewer did %q", r.said())
	}

	r.mu.Lock()
	r.control = true
	r.mu.Unlock()
	// A viewer from before the first terminal was lost may as well.
	until(t, v, func(metrics.Snapshot) bool { return v.Controls() })
	w := join(t, h)
	if !w.Controls() {
		t.Error("the run cannot be controlled")
	}
	w.Command(metrics.Command{Do: metrics.Drain})
	w.Command(metrics.Command{Do: metrics.SetLoad, Value: 3})
	w.Command(metrics.Command{Do: metrics.SetObjectives, Objectives: metrics.SLO{{Metric: metrics.TPOT, LimitMS: 1}}})
	until(t, w, func(s metrics.Snapshot) bool { return s.Notice == "objectives tpot done" })
	w.Inspect(metrics.Inspection{Rows: true}) // takes no notice away
	w.Command(metrics.Command{Do: metrics.Save})
	until(t, w, func(s metrics.Snapshot) bool { return s.Notice == "save done" })
	w.Command(metrics.Command{Do: metrics.Abort})
	w.Inspect(metrics.Inspection{Rows: true, Open: 3})
	eventually(t, "drain, set, objectives tpot, save, abort", r.said)
}

// The wishes of viewers add up, and go with them.
func TestLooks(t *testing.T) {
	r := newRun()
	h := host(t, r)
	v, w := join(t, h), join(t, h)
	wait := func(want metrics.Inspection) {
		t.Helper()
		eventually(t, want, func() metrics.Inspection { r.mu.Lock(); defer r.mu.Unlock(); return r.looked })
	}
	v.Inspect(metrics.Inspection{Rows: true})
	wait(metrics.Inspection{Rows: true})
	w.Inspect(metrics.Inspection{Open: 4})
	wait(metrics.Inspection{Rows: true, Open: 4})
	v.Close()
	wait(metrics.Inspection{Open: 4})
	w.Inspect(metrics.Inspection{})
	wait(metrics.Inspection{})
}

// A viewer that does not read, one that sends nonsense and one that leaves hold up neither the run nor the others.
func TestBadViewers(t *testing.T) {
	r := newRun()
	h := host(t, r)
	dial := func(words string) net.Conn {
		conn, err := net.Dial("unix", ownPath())
		assert.Fine(t, err)
		_, _ = io.WriteString(conn, words)
		return conn
	}
	defer dial(`{"benchtop_attach":1,"version":"v1"}` + "\n").Close() // never reads
	for _, words := range []string{"", "GET / HTTP/1.1\r\n\r\n", "{}\n", strings.Repeat("x", 1<<20),
		`{"benchtop_attach":1,"version":"v1"}` + "\n{\"do\":7}\n"} {
		dial(words).Close()
	}
	v := join(t, h)
	until(t, v, func(metrics.Snapshot) bool { return true })
}

// A viewer that has stopped reading, such as one that was suspended, does not hold up the end of the run for longer
// than a last word may take.
func TestCloseDoesNotWaitForASlowViewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Host{run: newRun(), version: "v1", seats: make(chan struct{}, mostViewers),
			looks: map[net.Conn]metrics.Inspection{}}
		h.ctx, h.cancel = context.WithCancel(t.Context())
		near, far := net.Pipe()
		defer far.Close()
		h.serving.Go(func() { h.serve(near) })
		assert.Fine(t, json.NewEncoder(far).Encode(hello{Attach: protocol, Version: "v1"}))
		in := bufio.NewReaderSize(far, 16)
		for { // the greeting
			if b, err := in.ReadByte(); err != nil {
				t.Fatal(err)
			} else if b == '\n' {
				break
			}
		}
		assert.Must(in.ReadByte())(t)
		time.Sleep(lastWord / 2) // the host is in the middle of the first frame
		began := time.Now()
		h.Close()
		assert.Equal(t, time.Since(began), lastWord, "closing took")
	})
}

func TestRefusalNamesTheRemedy(t *testing.T) {
	for _, c := range []struct{ run, here, want string }{
		{"1.1", "1.2", "benchtop 1.1, this is benchtop 1.2; attach with the program that started it"},
		{"(devel)", "(devel)", "another build of benchtop (devel); attach with the program that started it"},
	} {
		assert.Has(t, refusal(c.run, c.here), c.want)
	}
}

func TestRefused(t *testing.T) {
	h := host(t, newRun())
	_, err := Dial(ownPath(), "v2")
	assert.Fails(t, "another version", err, "the run uses benchtop v1, this is benchtop v2")
	path := filepath.Join(filepath.Dir(ownPath()), "other")
	l, err := net.Listen("unix", path)
	assert.Fine(t, err)
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, _ = io.WriteString(conn, "220 mail\n")
			_ = conn.Close()
		}
	}()
	_, err = Dial(path, "v1")
	assert.Fails(t, "something else", err, "not a benchtop run")
	var full []*Viewer
	for range mostViewers {
		full = append(full, join(t, h))
	}
	_, err = Dial(ownPath(), "v1")
	assert.Fails(t, "one viewer too many", err, "already joined")
	full[0].Close()
}

func TestFind(t *testing.T) {
	h := host(t, newRun())
	info, err := os.Stat(ownPath())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
	stale := socketOf(filepath.Dir(ownPath()), 1)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale})
	assert.Fine(t, err)
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	finds(t, ownPath())
	if _, err := os.Stat(stale); err == nil {
		t.Error("the socket of a dead run is still there")
	}
	h.Close()
	finds(t)
}

// A directory that others can open is not used.
func TestPrivateDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	assert.Fine(t, os.Mkdir(filepath.Join(dir, "benchtop"), 0o755))
	_, err := Listen(newRun(), "v1")
	assert.Fails(t, "listening there", err, "another user")
}

func FuzzFrames(f *testing.F) {
	var seed strings.Builder
	var d sender
	frame := d.next(newRun().Snapshot())
	assert.Fine(f, gob.NewEncoder(&seed).Encode(&frame))
	greeting, _ := json.Marshal(reply{Attach: protocol, Version: "v1"})
	f.Add([]byte(string(greeting) + "\n" + seed.String()))
	f.Fuzz(func(t *testing.T, b []byte) {
		near, far := net.Pipe()
		v := &Viewer{conn: near, snapshots: make(chan metrics.Snapshot, 1)}
		var talking sync.WaitGroup
		talking.Go(func() {
			_, _ = bufio.NewReader(far).ReadSlice('\n')
			_, _ = far.Write(b)
			_ = far.Close()
		})
		if in, err := v.greet("v1"); err == nil {
			v.read(in)
		}
		_ = near.Close()
		talking.Wait()
	})
}
