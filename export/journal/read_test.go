package journal

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// sampleJournal is the journal of sampleRun as bytes.
func sampleJournal(t testing.TB) []byte {
	t.Helper()
	run, qs := eventtest.Sample()
	j := newJournal(t, nil, run.Plan)
	for i := range qs {
		j.Done(&qs[i])
	}
	j.facts(run)
	j.End(run)
	var b bytes.Buffer
	assert.Must(j.WriteTo(&b))(t)
	return b.Bytes()
}

func tempJournal(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	assert.Fine(t, os.WriteFile(path, content, 0o600))
	return path
}

func TestReadJournalCutAnywhere(t *testing.T) {
	whole := sampleJournal(t)
	header := bytes.IndexByte(whole, '\n')
	for n := range len(whole) {
		if n%11 != 0 && !bytes.Contains(whole[max(0, n-2):min(len(whole), n+2)], []byte("\n")) {
			continue // line ends are the interesting places
		}
		run, seq, err := readRun(tempJournal(t, whole[:n]))
		if n < header {
			if err == nil {
				t.Fatalf("cut at %d, in the first line: no error", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		// A newline ends a line, but a complete line without one counts.
		lines := bytes.Count(append(whole[:n:n], whole[n:n+1]...), []byte("\n")) - 1
		if got := collect(t, seq); len(got) != min(lines, 4) {
			t.Fatalf("cut at %d: %d requests, want %d", n, len(got), min(lines, 4))
		}
		if n < len(whole)-1 && (run.Ended != metrics.Never || run.Reason != report.Killed) {
			t.Fatalf("cut at %d: ended at %v, reason %q", n, run.Ended, run.Reason)
		}
	}
	run, _, err := readRun(tempJournal(t, whole[:len(whole)-1])) // without the last newline
	if err != nil || run.Ended != 1750*ms || run.Reason != "" || len(run.Events) != 1 {
		t.Errorf("without the last newline: %+v, %v", run, err)
	}
}

func TestReadJournalOfOtherFiles(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "text": "hello\n", "other JSON": "{\"date\": \"20261006\"}\n", "array": "[]\n",
		"newer": "{\"benchtop_journal\":4,\"plan\":{}}\n", "bad gzip": "\x1f\x8bxxxxxxxxxxxxxxxx",
		"wrong plan": "{\"benchtop_journal\":1,\"plan\":{\"seed\":\"x\"}}\n",
	} {
		path := tempJournal(t, []byte(content))
		if _, _, err := readRun(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := readRun(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

func TestReadJournalDamage(t *testing.T) {
	lines := strings.SplitAfter(string(sampleJournal(t)), "\n")
	for name, c := range map[string]struct{ line, want string }{
		"cut":              {lines[2][:40] + "\n", "JSON"},
		"empty line":       {"\n", "JSON"},
		"zeros":            {"\x00\x00\x00\n", "JSON"},
		"two in one":       {strings.TrimSpace(lines[2]) + lines[2], "JSON"},
		"array":            {"[1]\n", "object"},
		"nothing known":    {"{\"x\":1}\n", "expected a request"},
		"header again":     {lines[0], "expected a request"},
		"index text":       {"{\"index\":\"1\"}\n", `"index"`},
		"index fraction":   {"{\"index\":1.5}\n", `"index"`},
		"index huge":       {"{\"index\":99999999999999999999}\n", `"index"`},
		"tokens huge":      {"{\"index\":1,\"output_tokens\":9007199254740993}\n", `"output_tokens"`},
		"time huge":        {"{\"index\":1,\"sent_us\":31622400000001}\n", `366 days`},
		"time overflow":    {"{\"index\":1,\"sent_us\":9223372036854775807}\n", `366 days`},
		"time null":        {"{\"index\":1,\"sent_us\":null}\n", `"sent_us"`},
		"text number":      {"{\"index\":1,\"error\":5}\n", `"error"`},
		"chunks number":    {"{\"index\":1,\"chunks_us\":5}\n", `"chunks_us"`},
		"chunks text":      {"{\"index\":1,\"chunks_us\":[5,\"x\"]}\n", `"chunks_us"`},
		"chunks run away":  {"{\"index\":1,\"chunks_us\":[31622400000000,31622400000000]}\n", `"chunks_us"`},
		"chunks too late":  {"{\"index\":1,\"done_us\":5,\"chunks_us\":[450633947193,2]}\n", `"chunks_us"`},
		"tokens missing":   {"{\"index\":1,\"chunks_us\":[1,2],\"chunk_tokens\":[1]}\n", `"chunk_tokens"`},
		"tokens of 64 bit": {"{\"index\":1,\"chunks_us\":[1],\"chunk_tokens\":[4294967296]}\n", `"chunk_tokens"`},
		"event text":       {"{\"event\":\"x\"}\n", `"event"`},
		"end early":        {"{\"end\":{}}\n", "after the end"},
		"deep":             {strings.Repeat("[", 10000) + "\n", "JSON"},
	} {
		content := lines[0] + lines[1] + lines[2] + c.line + strings.Join(lines[3:], "")
		path := tempJournal(t, []byte(content))
		run, seq, err := readRun(path)
		if err != nil {
			t.Errorf("%s: ReadJournal: %v", name, err)
			continue
		}
		ended, requests, lost, at := 1750*ms, 4, 1, "line 4"
		if name == "end early" { // lines after an end belong to another run
			ended, requests, lost, at = metrics.Never, 2, 14, "line 5"
		}
		if run.Ended != ended || run.Damaged != lost {
			t.Errorf("%s: ended at %v with %d damaged lines, want %v and %d", name, run.Ended, run.Damaged, ended, lost)
		}
		note := run.Events[len(run.Events)-1]
		if note.Level != metrics.Warn || !strings.Contains(note.Text, path+", "+at) ||
			!strings.Contains(note.Text, c.want) ||
			len(note.Text) > 400 {
			t.Errorf("%s: %+v; want %s and %q", name, note, at, c.want)
		}
		if got := collect(t, seq); len(got) != requests {
			t.Errorf("%s: %d requests, want %d", name, len(got), requests)
		}
		r, err := report.Summarize(seq, run)
		if err != nil || r.Completed != requests-requests/4 || r.Damaged != lost {
			t.Errorf("%s: Summarize: %d successes, %d damaged, %v", name, r.Completed, r.Damaged, err)
		}
	}
}

func TestReadJournalWithoutItsEndLine(t *testing.T) {
	lines := strings.SplitAfter(string(sampleJournal(t)), "\n")
	lines[len(lines)-2] = `{"end":{"ended_us":"x"}}` + "\n"
	run, seq, err := readRun(tempJournal(t, []byte(strings.Join(lines, ""))))
	if err != nil || run.Ended != metrics.Never || run.Reason == "" || run.Damaged != 1 {
		t.Errorf("ended at %v, reason %q, %d damaged, %v", run.Ended, run.Reason, run.Damaged, err)
	}
	if got := collect(t, seq); len(got) != 4 {
		t.Errorf("%d requests, want 4", len(got))
	}
}

// A journal on a disk that corrupts data keeps all intact lines and counts the others.
func TestEventsOfADamagedDisk(t *testing.T) {
	run, qs := eventtest.Sample()
	disk := &limitedBuffer{room: 1 << 20}
	j := newJournal(t, disk, run.Plan)
	for i := range qs {
		j.Done(&qs[i])
	}
	j.Flush()
	at := bytes.Index(disk.Bytes(), []byte(`"index":1`))
	disk.Bytes()[at] = 'x'
	if got := collect(t, j.Records()); len(got) != 3 {
		t.Errorf("%d requests", len(got))
	}
	r, err := report.Of(j.Events())
	if last := r.Events[len(r.Events)-1]; err != nil || r.Damaged != 1 ||
		!strings.HasPrefix(last.Text, "damaged journal line skipped: journal, line 3: ") {
		t.Errorf("%d damaged lines, %q, %v", r.Damaged, last.Text, err)
	}
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '['
	}
	return len(b), nil
}

func TestReadJournalLines(t *testing.T) {
	ci.SkipUnderRace(t)
	header, _, _ := bytes.Cut(sampleJournal(t), []byte("\n"))
	header = append(header, '\n')
	lines := io.MultiReader(bytes.NewReader(header), io.LimitReader(endless{}, maxLineBytes+1),
		strings.NewReader("\n{\"index\":1}\n"))
	var all []event.Event
	for e, err := range From(lines, "long") {
		assert.Fine(t, err)
		all = append(all, e)
	}
	if len(all) != 3 || all[2].Request == nil {
		t.Fatalf("got %+v", all)
	}
	if d, ok := all[1].Value.(event.Damage); !ok || d.Err.Error() != "long, line 2: "+errTooLong.Error() {
		t.Errorf("got %+v", all[1])
	}
	for _, err := range From(endless{}, "endless") { // for example a device
		if err == nil || err.Error() != "endless, line 1: "+errTooLong.Error() {
			t.Errorf("got %v", err)
		}
	}
	q := metrics.NewRequest(0) // longer than a reader's buffer
	q.Text = strings.Repeat("long \"text\" ", 300_000)
	content := append(appendRequest(header, &q), "{\"end\":{}}\n"...)
	_, seq, err := readRun(tempJournal(t, content))
	assert.Fine(t, err)
	if got := collect(t, seq); len(got) != 1 || got[0].Text != q.Text {
		t.Errorf("%d requests", len(got))
	}
}

func TestReadJournalIgnoresUnknownKeys(t *testing.T) {
	content := `{"benchtop_journal":1,"plan":{"new":1},"new":[]}` + "\n" + `{"new":{"a":[]},"index":3,"chunks_us":[ ` +
		`1, 2 ]}` + "\r\n"
	_, seq, err := readRun(tempJournal(t, []byte(content)))
	assert.Fine(t, err)
	if got := collect(t, seq); len(got) != 1 || got[0].Index != 3 || len(got[0].Chunks) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestCompress(t *testing.T) {
	content := sampleJournal(t)
	plain := tempJournal(t, content)
	want, wantSeq, err := readRun(plain)
	assert.Fine(t, err)
	requests := collect(t, wantSeq)
	path, err := Compress(plain, nil)
	if err != nil || path != plain+".gz" {
		t.Fatalf("Compress returned %q, %v", path, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(plain)); len(left) != 1 {
		t.Errorf("left in the directory: %v", left)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want that of the plain file", info.Mode())
	}
	got, seq, err := readRun(path)
	assert.Fine(t, err)
	assert.Same(t, "run", got, want, cmpopts.EquateNaNs())
	assert.Same(t, "collect", collect(t, seq), requests, sameRequest)

	os.WriteFile(plain, content, 0o600)
	assert.Is(t, assert.Failure(Compress(plain, nil)), fs.ErrExist)
	if _, err := os.Stat(plain); err != nil {
		t.Error("the plain file is gone")
	}
	assert.Is(t, assert.Failure(Compress(filepath.Join(t.TempDir(), "absent"), nil)), fs.ErrNotExist)

	packed, _ := os.ReadFile(path)
	// not an interrupted write: the file was complete before it got its name
	_, seq, err = readRun(tempJournal(t, packed[:len(packed)-12]))
	for _, e := range seq {
		err = e
	}
	assert.Is(t, err, io.ErrUnexpectedEOF)
}

// The report is the same with and without a journal, and for any order of requests.
func TestSummarizeOfAJournal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 8 {
		run, _ := eventtest.Sample()
		run.Plan.Detailed = round%2 == 0
		var qs []metrics.Request
		for i := range 200 {
			qs = append(qs, randomRequest(rnd, i))
		}
		if round >= 4 { // conversations
			qs = eventtest.DrawSessions(uint64(round), 40)
			run = metrics.Run{End: metrics.End{Ended: eventtest.LastDone(qs)}, Plan: metrics.Plan{
				Percentiles: []float64{50, 99}, Warmup: 3 * time.Second,
				Goodput:       metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}},
				Conversations: &metrics.Conversations{Count: 40, Turns: 12.5, Delay: time.Second},
				Workloads: []metrics.Workload{{Name: "class 1", Share: .5,
					Goodput: metrics.SLO{{Metric: metrics.E2EL, LimitMS: 3000}}}, {Name: "class 2"}},
			}}
		}
		want := assert.Must(report.Of(eventtest.Of(run, eventtest.Each(qs))))(t)

		f := journalFile(t)
		j := newJournal(t, f, run.Plan)
		for _, k := range rnd.Perm(len(qs)) {
			j.Done(&qs[k])
		}
		j.facts(run)
		assert.Fine(t, j.End(run))
		got := assert.Must(report.Of(Read(f.Name())))(t)
		if diff := cmp.Diff(want, got, sameRequest, sameHistogram, cmpopts.EquateNaNs(),
			cmpopts.EquateApprox(1e-12, 0), cmpopts.IgnoreFields(metrics.Chunk{}, "Answer")); diff != "" {
			t.Fatalf("round %d (-want +got):\n%s", round, diff)
		}
	}
}

func randomRequest(rnd *rand.Rand, index int) metrics.Request {
	due := ms * 10 * rndDuration(rnd, 500)
	sent := due + ms*rndDuration(rnd, 300)
	q := eventtest.Request(index, rnd.IntN(100), 0, due, sent)
	for at := sent; len(q.Chunks) < 1+rnd.IntN(30); {
		at += rndDuration(rnd, 100_000) * 1000
		q.Add(metrics.Chunk{At: at, Tokens: int32(rnd.IntN(4)), Answer: rnd.IntN(2) == 0})
		q.Done = at
	}
	q.OutputTokens = rnd.IntN(50)
	switch rnd.IntN(8) {
	case 0:
		q.Failure, q.Error = metrics.FailedTruncated, "cut"
	case 1:
		q.Failure = metrics.Cancelled
	case 2:
		q.Failure, q.Status, q.Error = metrics.FailedStatus, 503, "busy"
	}
	return q
}

func FuzzReadJournal(f *testing.F) {
	whole := sampleJournal(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(
		"{\"benchtop_journal\":1,\"plan\":{}}\n{\"index\":1,\"chunks_us\":[1,2],\"chunk_tokens\":[0,2]}" +
			"\n{\"event\":{}}\n"))
	f.Add([]byte(
		"{\"benchtop_journal\":1,\"plan\":{\"request_rate\":\"inf\"}}\n{\"index\":1,\"connect_us\":null," +
			"\"error\":\"\\ud800\\u00e9\"}"))
	f.Add([]byte(
		"{\"benchtop_journal\":1,\"plan\":{\"ramp\":{\"from\":\"inf\"},\"stages\":[{\"rate\":\"nan\"}]," +
			"\"gates\":[{\"limit\":\"-inf\"}]}}\n" +
			"x\n{\"end\":{\"probes\":{\"completed\":1,\"latencies_us\":[5]}," +
			"\"spec_decode\":{\"accepted_per_position\":[1]},\"diffusion\":{}}}\n"))
	f.Add([]byte("{\"benchtop_journal\":1,\"plan\":{\"timestamps\":\"kernel\"}}\n" +
		"{\"client\":{\"at_ns\":1,\"cpu\":1.2345678901234567e-3,\"memory_bytes\":9007199254740992," +
		"\"clock_step\":false,\"delay_p99_ns\":0}}\n" +
		"{\"client\":{\"cpu\":1e400}}\n{\"end\":{\"stamps\":{\"chunks\":1,\"shared\":2,\"delay_max_ns\":7}}}\n"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(whole)
	z.Close()
	f.Add(packed.Bytes())
	f.Fuzz(func(t *testing.T, content []byte) {
		for read, err := range From(bytes.NewReader(content), "fuzz") {
			damage, damaged := read.Value.(event.Damage)
			plan, planned := read.Value.(metrics.Plan)
			again := func(line []byte) event.Event {
				var d lineDecoder
				back, err := d.decode(line)
				if err != nil {
					t.Fatalf("%s: what was read cannot be read again: %v", line, err)
				}
				return back
			}
			switch {
			case err != nil && err.Error() == "" || damaged && damage.Err.Error() == "":
				t.Error("an error without words")
			case err != nil || damaged:
			case planned:
				assert.Fails(t, "a plan that was read cannot be written", assert.Failure(appendHeader(nil, plan)), "")
			case read.Request != nil:
				if diff := cmp.Diff(read.Request,
					again(bytes.TrimSuffix(appendRequest(nil, read.Request), []byte("\n"))).Request,
					sameRequest); diff != "" {
					t.Errorf("(-read +again):\n%s", diff)
				}
			default:
				line := appendFact(nil, read)
				if diff := cmp.Diff(read.Value, again(line[:len(line)-1]).Value, cmpopts.EquateNaNs()); diff != "" {
					t.Errorf("%s(-read +again):\n%s", line, diff)
				}
			}
		}
	})
}

func rndDuration(rnd *rand.Rand, n int64) time.Duration { return time.Duration(rnd.Int64N(n)) }

// sameHistogram compares what histograms count.
var sameHistogram = cmp.Comparer(func(a, b metrics.Histogram) bool {
	return slices.Equal(slices.Collect(a.Buckets()), slices.Collect(b.Buckets()))
})

// Of a part of the requests only their lines are decoded, with or without their chunks; all facts come.
func TestPick(t *testing.T) {
	content := sampleJournal(t)
	damaged := strings.Replace(string(content), `{"index":2,`, `{"index":2,,`, 1)
	source := Source(tempJournal(t, []byte(damaged)))
	all := func(some event.Pick) (requests []string, facts, damage int) {
		for e, err := range source(some) {
			assert.Fine(t, err)
			switch e.Value.(type) {
			case nil:
				requests = append(requests, fmt.Sprint(e.Request.Index, len(e.Request.Chunks)))
			case event.Damage:
				damage++
			default:
				facts++
			}
		}
		return requests, facts, damage
	}
	want, facts, damage := all(event.Pick{})
	if len(want) < 3 || facts < 3 || damage != 1 {
		t.Fatalf("%q, %d facts, %d damaged lines", want, facts, damage)
	}
	got, n, damage := all(event.Pick{Only: func(i int) bool { return i == 1 }})
	if len(got) != 1 || !slices.Contains(want, got[0]) || n != facts || damage != 0 {
		t.Errorf("%q, %d facts, %d damaged lines, want one request of %q and %d facts", got, n, damage, want, facts)
	}
	got, n, damage = all(event.Pick{Plain: true})
	if len(got) != len(want) || n != facts || damage != 1 || slices.ContainsFunc(got, func(s string) bool {
		return !strings.HasSuffix(s, " 0")
	}) {
		t.Errorf("%q, %d facts, %d damaged lines, want %d requests without chunks and %d facts", got, n, damage,
			len(want), facts)
	}
}
