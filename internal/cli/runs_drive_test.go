package cli

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/export/journal"
	"benchtop/internal/files"
	"benchtop/internal/replay"
	"benchtop/internal/run"
	"benchtop/internal/session"
	"benchtop/internal/simulator/simtest"
	"benchtop/internal/spec"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// ran is what a run left behind.
type ran struct {
	journal []byte // plain
	result  []byte // the saved JSON, nil where the run was killed
	// seconds are the live views at the end of each second, and that after the end of the run.
	seconds []view
}

const (
	// lookedAtMost bounds the length of a scenario.
	lookedAtMost = 90
	// endOfSecond is how long before the end of a second it is looked at, so that nothing of the next one has begun.
	endOfSecond = time.Microsecond
)

// looksAt is what the views show of single requests.
var looksAt = metrics.Inspection{Rows: true, Open: 3}

// drive runs a scenario in virtual time, from the command line to the files on disk. Only the screen, signals and the
// sockets for other terminals are left out.
func drive(t *testing.T, c *scenario) (r ran) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir) // where no calibration is
	synctest.Test(t, func(t *testing.T) {
		dial, stop := serveScenario(t, c)
		defer stop()
		told := &toldEvents{}
		p, run := begun(t, c, dir, dial, told)
		name := p.Files.JournalName
		over, watched := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(watched)
			r.watch(t, c, p, run, over)
		}()
		o := run.Do()
		o.Beside()
		close(over)
		<-watched
		run.Close()
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		last := run.View().Snapshot()
		if c.killed == 0 {
			r.seconds = append(r.seconds, lastView(&last))
			r.journal, r.result = unzipped(t, name+".gz"), readFile(t, o.Path)
			p.Server.Close(func(string) {})
		}
		told.compare(t,
			func(yield func(event.Event, error) bool) { journal.From(bytes.NewReader(r.journal), "journal")(yield) })
	})
	return r
}

// reportsAlike leaves out what no journal has: which chunks were of the visible answer.
var reportsAlike = []gocmp.Option{
	gocmp.Comparer(func(a, b metrics.Histogram) bool {
		return slices.Equal(slices.Collect(a.Buckets()), slices.Collect(b.Buckets()))
	}),
	cmpopts.EquateNaNs(), cmpopts.IgnoreUnexported(metrics.Request{}), cmpopts.IgnoreFields(metrics.Chunk{}, "Answer"),
	cmpopts.IgnoreFields(metrics.Request{}, "ReadDelay", "Piece"), cmpopts.EquateEmpty(),
}

// toldEvents is a sink that keeps what it hears, but for what no report needs.
type toldEvents struct {
	mu  sync.Mutex // guards all
	all []event.Event
}

func (t *toldEvents) Take(e *event.Event) {
	if e.Kind != event.Done && e.Kind != event.Fact {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, *e)
}

// compare holds the report of a journal to that of the same events as they were told.
func (t *toldEvents) compare(test *testing.T, written event.Events) {
	test.Helper()
	lines := 0
	for range written {
		lines++
	}
	t.mu.Lock()
	told := t.all[:min(lines, len(t.all))]
	t.mu.Unlock()
	live, err := report.Of(func(yield func(event.Event, error) bool) {
		for _, e := range told {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil || lines > len(told) {
		test.Fatalf("%d events were told, %d are in the journal: %v", len(told), lines, err)
	}
	read, err := report.Of(written)
	if err != nil {
		test.Fatal(err)
	}
	if diff := gocmp.Diff(live, read, reportsAlike...); diff != "" {
		test.Error("the report of the events is not that of the journal (-told +journal): ", diff)
	}
}

// watch takes the views of a run, and does to it what the scenario says, until it is over.
func (r *ran) watch(t *testing.T, c *scenario, p *session.Run, s *run.Run, over <-chan struct{}) {
	start := s.View().Snapshot().Plan.Started
	acts := slices.Clone(c.acts)
	for i := range lookedAtMost {
		at := time.Duration(i+1)*time.Second - endOfSecond
		acts = append(acts, act{at, func(s *run.Run) {
			s.View().JudgeAt(at)
			snapshot := s.View().Snapshot()
			r.seconds = append(r.seconds, viewOf(&snapshot, at-time.Second))
		}})
	}
	slices.SortFunc(acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	if c.killed > 0 {
		acts = slices.DeleteFunc(acts, func(a act) bool { return a.at >= c.killed })
		acts = append(acts, act{c.killed, func(s *run.Run) {
			s.Flush()
			r.journal = cutInRequest(readFile(t, p.Files.JournalName))
			s.Command(metrics.Command{Do: metrics.Abort})
		}})
	}
	for _, a := range acts {
		select {
		case <-time.After(time.Until(start.Add(a.at))):
			a.do(s)
		case <-over:
			return
		}
	}
}

// serveScenario starts the server of a scenario on a network in memory.
func serveScenario(t *testing.T, c *scenario) (dial target.DialFunc, stop func()) {
	t.Helper()
	p, err := c.profile()
	if err != nil {
		t.Fatal(err)
	}
	return simtest.Serve(t, p)
}

// begun is a run that is about to begin, as serve has it.
func begun(t *testing.T, c *scenario, dir string, dial target.DialFunc, told *toldEvents) (*session.Run, *run.Run) {
	t.Helper()
	o := spec.New()
	if err := o.Parse(c.common(dir)); err != nil {
		t.Fatal(err)
	}
	o.Command = append([]string{"serve"}, c.args...) // without the name of the temporary directory
	var err error
	if o.Server.Target, err = target.New(target.Options{BaseURL: o.Server.BaseURLs[0], Dial: dial}); err != nil {
		t.Fatal(err)
	}
	env := &session.Environment{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	p, err := session.Prepare(t.Context(), env, o)
	if err != nil {
		t.Fatal(err)
	}
	p.Unwatched = true
	p.Plan.Spec = nil // it names the temporary directory
	p.Sinks = []event.Sink{told}
	if err := p.Reserve(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	r, err := p.Open(&session.Console{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	plan := *r.View().Snapshot().Plan
	told.all = append([]event.Event{{Kind: event.Fact, Value: plan}}, told.all...) // as in a journal
	r.View().Inspect(looksAt)
	return p, r
}

// cutInRequest cuts a journal in the middle of its last request, as a kill does.
func cutInRequest(journal []byte) []byte {
	last := bytes.LastIndex(journal, []byte("\n"+requestLine))
	const part = `,"done_u`
	return journal[:last+bytes.Index(journal[last:], []byte(part))+len(part)]
}

// requestLine is what the line of a request begins with.
const requestLine = `{"index":`

// replayViews views a journal as a replay of it shows it at the end of each second.
func replayViews(t *testing.T, file string) (seconds []view) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		events, err := files.ReadRun(file)
		if err != nil {
			t.Fatal(err)
		}
		player, err := replay.New(events(event.Pick{}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		player.Pause()
		player.Inspect(looksAt)
		shown := player.Run(ctx)
		next := func(at time.Duration) metrics.Snapshot {
			player.Seek(at)
			synctest.Wait()
			s, ok := <-shown
			if !ok {
				t.Fatal("the replay ended")
			}
			return s
		}
		length := next(0).Replay.Length
		for at := time.Second - endOfSecond; at < length; at += time.Second {
			s := next(at)
			seconds = append(seconds, viewOf(&s, at-time.Second))
		}
		last := next(length)
		seconds = append(seconds, lastView(&last))
		cancel()
		for range shown {
		}
	})
	return seconds
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unzipped(t *testing.T, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// zipped writes a file that is the same whenever it is written.
func zipped(t *testing.T, name string, plain []byte) {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(plain)
	}
	if err = errors.Join(err, z.Close(), os.MkdirAll(filepath.Dir(name), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
