package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
)

// sameRequest ignores the private fields of metrics.
var sameRequest = cmpopts.IgnoreUnexported(metrics.Request{})

// journalFile returns an empty file in a new directory.
func journalFile(t *testing.T) *os.File {
	t.Helper()
	f := assert.Must(os.Create(filepath.Join(t.TempDir(), "run.jsonl")))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

func collect(t *testing.T, seq iter.Seq2[metrics.Request, error]) []metrics.Request {
	t.Helper()
	var out []metrics.Request
	for q, err := range seq {
		if err != nil {
			t.Fatalf("after %d requests: %v", len(out), err)
		}
		out = append(out, q)
	}
	return out
}

// fill sets all fields to distinct values, so that a forgotten field fails the round trip.
func fill(t *testing.T, v reflect.Value, n *int64) {
	t.Helper()
	*n++
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(*n * 1_000_123_000)
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 10, 6, 10, 15, int(*n%60), 123456789, time.UTC)))
	case v.Type() == reflect.TypeFor[metrics.Load]():
		v.Set(reflect.ValueOf(metrics.Users.Of(float64(*n))))
	case v.Type() == reflect.TypeFor[metrics.Unit]():
		v.Set(reflect.ValueOf(metrics.Users))
	case v.Type() == reflect.TypeFor[metrics.Latency]():
		v.Set(reflect.ValueOf(metrics.Latency(*n) % metrics.NumObjectives)) // latencies with names
	case v.CanInt():
		v.SetInt(*n)
	case v.CanUint():
		v.SetUint(uint64(*n))
	case v.CanFloat():
		v.SetFloat(float64(*n) + 0.5)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprintf("%d \"\\/\b\f\n\r\t\x00\x1b\x7f\u009b\u202e\u2028 é 日本 \U0001F600 \uFFFD <&>", *n))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for k := range v.Len() {
			fill(t, v.Index(k), n)
		}
	case v.Kind() == reflect.Array:
		for k := range v.Len() {
			fill(t, v.Index(k), n)
		}
	case v.Type() == reflect.TypeFor[map[string]string]():
		v.Set(reflect.ValueOf(map[string]string{"a": "1", "b": "2"}))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Answer" && f.Name != "Live" { // not written
				fill(t, v.Field(i), n)
			}
		}
	default:
		t.Fatalf("no rule for %s", v.Type())
	}
}

func roundTripRequests(t *testing.T) []metrics.Request {
	var full metrics.Request
	n := int64(0)
	fill(t, reflect.ValueOf(&full).Elem(), &n)
	full.ReadDelay, full.Piece, full.Prompt, full.Tokens = metrics.Never, nil, "", nil // live only
	never := metrics.NewRequest(7)
	never.Connect, never.Encode = metrics.Never, metrics.Never
	_, sample := eventtest.Sample()
	zero := metrics.Request{ReadDelay: metrics.Never, VLLMLater: metrics.Never, LastTry: metrics.Never,
		IdealKnown: true,
		Chunks:     []metrics.Chunk{{At: 0, Tokens: 1}, {At: 5 * ms, Tokens: 1}, {At: 5 * ms, Tokens: 1}}}
	qs := append(sample, full, never, zero)
	for i := range qs {
		for k := range qs[i].Chunks {
			qs[i].Chunks[k].Answer = false
		}
	}
	return qs
}

func TestJournalRoundTrip(t *testing.T) {
	run, _ := eventtest.Sample()
	run.Plan.Burstiness = inf
	run.Plan.Goodput = append(run.Plan.Goodput, metrics.Objective{Metric: metrics.TTFT, LimitMS: inf})
	run.Plan.Ramp = &metrics.Ramp{Strategy: "linear", From: 1, To: 2.5, Over: time.Minute, Requests: 1000}
	run.Plan.Stages = []metrics.Stage{{Length: time.Minute, Load: metrics.Load{Value: 2.5}},
		{Start: time.Minute, Length: time.Hour, Load: metrics.Load{Value: inf}}, {Load: metrics.Users.Of(8)}}
	run.Plan.Gates = []metrics.Gate{{Metric: "goodput", Op: "<", Limit: 0.9, Percent: true},
		{Metric: "duration", Op: ">=", Limit: -inf}}
	run.Plan.Metadata = []metrics.Pair{{Key: "tp", Value: "1"}, {Key: "", Value: "\x1b \u202e"}}
	run.Plan.Warmup, run.Plan.SkipTokenizer = 30*time.Second, true
	run.Plan.SteadyState = metrics.SteadyStateRule{Off: true, Threshold: 0.9, MinWindow: time.Second}
	run.Plan.Duration, run.Plan.Label, run.Plan.IgnoreEOS = time.Hour, "<l>", true
	run.Plan.Started = time.Date(2026, 10, 6, 10, 15, 0, 123456789, time.UTC)
	run.Reason, run.Unsent = "SIGTERM", 12
	run.Events = events()
	run.Server, run.GPUs = serverSeconds(t), gpuSeconds(t)
	for i := range run.Server { // derived from the requests
		run.Server[i].First, run.Server[i].Ended = metrics.TTFTParts{}, metrics.TTFTParts{}
	}
	run.ServerKind, run.ServerAbsent, run.GPUsAbsent = "vLLM", "gone since 12 s \x1b", "no nvidia-smi"
	run.Plan.GPUPrice, run.Plan.Find = 2.5,
		&metrics.Find{From: 1, Most: inf, Step: time.Second, Hold: time.Minute, Unit: metrics.Users}
	run.Probes = &metrics.Probes{Completed: 2, Failed: 1, Latencies: []time.Duration{50 * ms, 300*ms + 1000}}
	run.SpecDecode = &metrics.SpecDecode{Drafts: 4, DraftTokens: 12, AcceptedTokens: 6,
		AcceptedPerPosition: []int{3, 0, 1}}
	run.Diffusion = &metrics.Diffusion{CommittedTokens: 1, DenoisingSteps: 2, CanvasPositions: 3}
	run.Client = clientSeconds(t)
	qs := roundTripRequests(t)

	f := journalFile(t)
	j := newJournal(t, f, run.Plan)
	for i := range qs {
		j.Done(&qs[i])
		if i == len(qs)/2 {
			j.facts(run)
		}
	}
	assert.Same(t, "while it is written", collect(t, j.Records()), qs, sameRequest)
	assert.Fine(t, j.End(run))
	j.Done(&qs[0]) // after the end
	assert.Same(t, "closed", collect(t, j.Records()), qs, sameRequest)
	got, seq, err := readRun(f.Name())
	assert.Fine(t, err)
	assert.Same(t, "run", got, run, cmpopts.EquateNaNs())
	for range 2 {
		assert.Same(t, "read", collect(t, seq), qs, sameRequest)
	}
	for q := range seq { // a reader that stops early
		assert.Equal(t, q.Index, qs[0].Index, "first request")
		break
	}
	content, _ := os.ReadFile(f.Name())
	if bytes.ContainsAny(content, "\x00\x1b\x7f\u009b\u202e") {
		t.Error("the journal holds characters that are not safe on a terminal")
	}
}

func TestJournalBytesThatAreNoUTF8(t *testing.T) {
	j := newJournal(t, nil, metrics.Plan{})
	q := metrics.NewRequest(0)
	q.Error = "a\xff\xef\xbf b"
	j.Done(&q)
	assert.Equal(t, collect(t, j.Records())[0].Error, "a\uFFFD\uFFFD\uFFFD b", "collect")
}

func TestJournalOfAPlanThatCannotBeWritten(t *testing.T) {
	if _, err := NewWriter(nil, metrics.Plan{Percentiles: []float64{inf}}); err == nil {
		t.Error("no error")
	}
}

// onlyWriter hides the other methods of a writer.
type onlyWriter struct{ io.Writer }

// journalOf is the journal of a run with its requests only.
func journalOf(t *testing.T, run metrics.Run, qs []metrics.Request) string {
	t.Helper()
	j := newJournal(t, nil, run.Plan)
	for i := range qs {
		j.Done(&qs[i])
	}
	j.End(run)
	var b bytes.Buffer
	j.WriteTo(&b)
	return b.String()
}

// A disk that has space again gets the whole journal, wherever the write was cut, and the error is cleared.
func TestJournalOfADiskThatWasFullForAWhile(t *testing.T) {
	synctest.Test(t, fullForAWhile) // the test alone flushes
}

func fullForAWhile(t *testing.T) {
	run, qs := eventtest.Sample()
	want := journalOf(t, run, qs)

	for room := 0; room < len(want); room += 61 {
		for again := range len(qs) + 1 { // the request before which there is space again, or the end
			disk := &limitedBuffer{room: room}
			for _, w := range []io.Writer{disk, onlyWriter{disk}} {
				*disk = limitedBuffer{room: room}
				j := newJournal(t, w, run.Plan)
				for i := range qs {
					if i == again {
						disk.room = 1 << 20
					}
					j.Done(&qs[i])
					j.Flush()
					if err := j.Err(); i >= again && err != nil {
						t.Fatalf("room after %d bytes and %d requests: %v", room, again, err)
					}
				}
				disk.room = 1 << 20
				if err := j.End(run); err != nil || disk.String() != want {
					t.Fatalf("room after %d bytes and %d requests: %v\n%s", room, again, err,
						cmp.Diff(want, disk.String()))
				}
				if got := collect(t, j.Records()); len(got) != len(qs) {
					t.Fatalf("room after %d bytes and %d requests: %d requests, want %d", room, again, len(got),
						len(qs))
				}
			}
		}
	}
}

// limitedBuffer fails after some bytes, in the middle of a write, like a full disk.
type limitedBuffer struct {
	bytes.Buffer
	room int
}

func (l *limitedBuffer) Write(b []byte) (int, error) {
	n, _ := l.Buffer.Write(b[:min(len(b), l.room)])
	l.room -= n
	if n < len(b) {
		return n, errBroken
	}
	return n, nil
}

func (l *limitedBuffer) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(l.Bytes()).ReadAt(b, at)
}

func TestJournalKeepsEverythingWhenTheDiskIsFull(t *testing.T) {
	run, qs := eventtest.Sample()
	want := journalOf(t, run, qs)

	for room := 0; room < len(want); room += 29 {
		disk := &limitedBuffer{room: room}
		for _, w := range []io.Writer{disk, onlyWriter{&limitedBuffer{room: room}}} {
			j := newJournal(t, w, run.Plan)
			for i := range qs {
				j.Done(&qs[i])
				j.Flush()
			}
			if err := j.End(run); !errors.Is(err, errBroken) || !errors.Is(j.Err(), errBroken) {
				t.Fatalf("%d bytes of room: Close returned %v, Err %v", room, err, j.Err())
			}
			if got := collect(t, j.Records()); len(got) != len(qs) {
				t.Fatalf("%d bytes of room: %d requests, want %d", room, len(got), len(qs))
			}
			var copied bytes.Buffer
			if _, err := j.WriteTo(&copied); err != nil || copied.String() != want {
				t.Fatalf("%d bytes of room: the copy differs: %v\n%s", room, err, cmp.Diff(want, copied.String()))
			}
		}
		assert.Need(t, disk.String(), want[:room], "%d bytes of room: the file holds", room)
	}
}

func TestJournalConcurrently(t *testing.T) {
	const writers, each = 8, 90
	for name, w := range map[string]io.Writer{"file": journalFile(t), "memory": nil, "pipe": onlyWriter{io.Discard}} {
		j := newJournal(t, w, metrics.Plan{})
		var wg sync.WaitGroup
		for g := range writers {
			wg.Go(func() {
				for i := range each {
					q := eventtest.Request(g*each+i, 1, 2, 0, 1*ms, 1*ms, 1*ms)
					q.Text = strings.Repeat("x", 100)
					j.Done(&q)
					j.tell(0, metrics.LogEntry{Text: "e"})
					if i%45 == 44 {
						j.Flush()
						collect(t, j.Records())
					}
				}
			})
		}
		wg.Wait()
		if err := j.End(metrics.Run{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := collect(t, j.Records())
		slices.SortFunc(got, metrics.ByIndex)
		for i, q := range got {
			assert.Need(t, q.Index, i, "%s: request %d stands at %d", name, q.Index, i)
		}
		assert.Equal(t, len(got), writers*each, "%s: requests", name)
	}
}

func TestJournalIsInTheFileWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := journalFile(t)
		j := newJournal(t, f, metrics.Plan{})
		for i := range 3 {
			q := metrics.NewRequest(i)
			j.Done(&q)
			time.Sleep(time.Second)
			synctest.Wait()
			content := assert.Must(os.ReadFile(f.Name()))(t)
			if n := bytes.Count(content, []byte("\n")); n != i+2 {
				t.Errorf("a second after request %d the file has %d lines", i, n)
			}
		}
		assert.Fine(t, j.End(metrics.Run{}))
	})
}

// syncer records whether a sync followed the last write.
type syncer struct {
	bytes.Buffer
	synced string
	err    error
}

func (s *syncer) Sync() error { s.synced = s.String(); return s.err }

func TestJournalIsForcedToTheDiskAtTheEnd(t *testing.T) {
	s := &syncer{err: errBroken}
	j := newJournal(t, s, metrics.Plan{})
	if err := j.End(metrics.Run{End: metrics.End{Ended: 5 * ms}}); err != errBroken || j.Err() != errBroken ||
		j.End(metrics.Run{}) != errBroken {
		t.Errorf("Close returned %v, Err %v", err, j.Err())
	}
	if !strings.HasSuffix(s.synced, "{\"end\":{\"ended_us\":5000}}\n") {
		t.Errorf("synced %q", s.synced)
	}
}

func manyChunks() metrics.Request {
	q := eventtest.Request(1234, 512, 128, 1000*ms, 1000*ms,
		slices.Repeat([]time.Duration{12_345 * time.Microsecond}, 128)...)
	q.Text = ""
	return q
}

func TestJournalDoneDoesNotAllocate(t *testing.T) {
	j := newJournal(t, onlyWriter{io.Discard}, metrics.Plan{})
	j.pending = make([]byte, 0, 1<<20)
	q := manyChunks()
	if n := testing.AllocsPerRun(200, func() { j.Done(&q) }); n > 0 {
		t.Errorf("%v allocations per request", n)
	}
	// Facts are boxed, but what is pending is not copied for them.
	e := event.Event{Kind: event.Fact, Value: clientSeconds(t)[0]}
	// With counters of coverage, functions that are inlined else are called, and what they return is on the heap.
	if n := testing.AllocsPerRun(200, func() { j.Take(&e) }); n > 2 && testing.CoverMode() == "" {
		t.Errorf("%v allocations per second of the client", n)
	}
}

// Events after the end of the run are ignored, whether the journal is closed or not.
func TestJournalEndsWithTheRun(t *testing.T) {
	j := newJournal(t, nil, metrics.Plan{})
	q := metrics.NewRequest(0)
	j.tell(ms, metrics.End{Ended: ms})
	j.tell(ms, metrics.ServerSecond{})
	j.Done(&q)
	var b strings.Builder
	if _, err := j.WriteTo(&b); err != nil || strings.Count(b.String(), "\n") != 2 {
		t.Errorf("%v, not the plan and the end:\n%s", err, b.String())
	}
}

func BenchmarkJournalDone(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "run.jsonl"))
	assert.Fine(b, err)
	defer f.Close()
	j := newJournal(b, f, metrics.Plan{})
	q := manyChunks()
	b.ReportAllocs()
	b.SetBytes(int64(len(appendRequest(nil, &q))))
	for b.Loop() {
		j.Done(&q)
	}
	j.End(metrics.Run{})
}

func BenchmarkJournalRecords(b *testing.B) {
	j := newJournal(b, nil, metrics.Plan{})
	q := manyChunks()
	for range 1000 {
		j.Done(&q)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range j.Records() {
			assert.Fine(b, err)
		}
	}
}

// A lost field of the plan would change the report of a saved run.
func TestJournalKeepsEveryFieldOfThePlan(t *testing.T) {
	run, _ := eventtest.Sample()
	plan := reflect.ValueOf(&run.Plan).Elem()
	n := int64(0)
	fill(t, plan, &n)
	line := assert.Must(appendHeader(nil, run.Plan))(t)
	got, _, err := decodeHeader(bytes.TrimSuffix(line, []byte("\n")))
	assert.Fine(t, err)
	assert.Same(t, "Plan", got, run.Plan)
}

// A journal is gzipped while it is written, as long as that takes little memory, and its file has all of it either way.
func TestGzippedByTheWriter(t *testing.T) {
	for _, c := range []struct {
		name      string
		text      int // random bytes of each request
		inMemory  bool
		elsewhere string // what another program adds
	}{{"small", 100, true, ""}, {"large", 2 << 20, false, ""}, {"changed", 100, true, "{\"x\":1}\n"}} {
		t.Run(c.name, func(t *testing.T) {
			f := assert.Must(os.Create(filepath.Join(t.TempDir(), "run.jsonl")))(t)
			defer f.Close()
			j := newJournal(t, f, metrics.Plan{})
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 4 {
				q := manyChunks()
				q.Index = i
				q.Text = base64.StdEncoding.EncodeToString(randomBytes(r, c.text))
				j.Done(&q)
				assert.Fine(t, j.Flush())
			}
			assert.Fine(t, j.Close())
			assert.Equal(t, j.gzipped.z != nil, c.inMemory, "%d bytes in memory", j.gzipped.length)
			assert.Must(f.WriteString(c.elsewhere))(t)
			want := assert.Must(os.ReadFile(f.Name()))(t)
			path := assert.Must(Compress(f.Name(), j.Writer))(t)
			packed := assert.Must(os.Open(path))(t)
			defer packed.Close()
			z := assert.Must(gzip.NewReader(packed))(t)
			if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v, want %d", len(got), err, len(want))
			}
		})
	}
}

func randomBytes(r *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}
