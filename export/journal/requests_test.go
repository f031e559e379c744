package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// A line with its chunks cut out gives the same request as the whole line, and the same errors.
func TestCutChunks(t *testing.T) {
	for _, lists := range []string{
		`"chunks_us":[1]`, `"chunks_us":[1,-2,0,-0,30]`, `"chunks_us":[1,2],"chunk_tokens":[0,7]`, `"chunks_us":[1,2],"text":"a","chunk_tokens":[0,7]`, `"chunk_tokens":[0,7],"chunks_us":[1,2]`,
		`"chunks_us":[]`, `"chunks_us":[],"chunk_tokens":[]`, `"chunks_us":[1,2],"chunk_tokens":[1]`, `"chunks_us":[1],"chunk_tokens":[4294967296]`,
		`"chunks_us":[01]`, `"chunks_us":[1.5]`, `"chunks_us":[1e3]`, `"chunks_us":[-]`, `"chunks_us":[1,]`, `"chunks_us":[,1]`, `"chunks_us":[1 ,2]`,
		`"chunks_us":[1`, `"chunks_us":[`, `"chunks_us":[1,2`, `"chunks_us":["]"]`, `"chunks_us":[1,2],"chunk_tokens":[1,2`, `"chunks_us":[[1]]`,
		`"chunks_us":[31622400000000,31622400000000]`, `"chunks_us":[9999999999999999999999]`, `"chunks_us":[1],"chunk_tokens":[x]`,
		`"id":"a,\"chunks_us\":[5]","chunks_us":[1,2]`, `"chunks_us":null`,
	} {
		line := `{"index":3,` + lists + `,"status":200}`
		spaced := strings.Replace(line, `"chunks_us":[`, `"chunks_us": [`, 1) // left to the parser
		if strings.Contains(lists, `"id"`) {
			spaced = strings.Replace(line, `"chunks_us":[1`, `"chunks_us": [1`, 1)
		}
		got, err := decodeLine([]byte(line))
		want, wantErr := decodeLine([]byte(spaced))
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s: error %v, want %v", lists, err, wantErr)
		} else if err == nil && (!slices.Equal(got.request.Chunks, want.request.Chunks) || got.request.Status != 200 || got.request.ID != want.request.ID) {
			t.Errorf("%s: got %+v, want %+v", lists, got.request, want.request)
		}
	}
}

// A request with a million chunks takes the memory of its chunks, not a hundred bytes for each number.
func TestManyChunksAreCheapToRead(t *testing.T) {
	q := metrics.Request{Chunks: make([]metrics.Chunk, 1<<20)}
	line := appendRequest(nil, &q)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e, err := decodeLine(line[:len(line)-1])
	runtime.ReadMemStats(&after)
	if err != nil || len(e.request.Chunks) != len(q.Chunks) {
		t.Fatal(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 24<<20 {
		t.Errorf("%d MB were taken for 16 MB of chunks", took>>20)
	}
	values := []byte(`{"index":1,"x":[` + strings.Repeat("0,", maxValues) + `0]}`)
	if _, err := decodeLine(values); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("at most %d values", maxValues)) {
		t.Errorf("a line of %d values gave %v", maxValues+1, err)
	}
}

// The longest request can be read back, whatever its text.
func TestLongestLineIsRead(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, letter := range []string{"\x01", ",", "\"", "a"} {
		q := metrics.NewRequest(0)
		q.Text = strings.Repeat(letter, metrics.MostText)
		q.Chunks = make([]metrics.Chunk, 1<<20)
		for i := range q.Chunks {
			q.Chunks[i] = metrics.Chunk{At: time.Duration(i) * 20 * time.Millisecond, Tokens: int32(i % 3)}
		}
		line := appendRequest(nil, &q)
		if perChunk := (len(line) - 6*metrics.MostText) / len(q.Chunks); perChunk > 10 || len(line) > maxLineBytes {
			t.Errorf("%q: a line of %d bytes, %d for each chunk", letter, len(line), perChunk)
		}
		if e, err := decodeLine(line[:len(line)-1]); err != nil || e.request.Text != q.Text || len(e.request.Chunks) != len(q.Chunks) {
			t.Errorf("%q: %v", letter, err)
		}
	}
}

// Late token counts are those of the requests, for the run itself and for a reader of its journal.
func TestRecount(t *testing.T) {
	run, qs := eventtest.Sample()
	for i := range qs {
		qs[i].OutputSource, qs[i].Text = metrics.TokensFromChunks, "a text"
	}
	qs[1].TextPart = true
	f := journalFile(t)
	j := newJournal(t, f, run.Plan)
	for i := range qs {
		j.Done(&qs[i])
	}
	first := qs[0].Index
	before := collect(t, j.Records())
	j.Recount(first, 77, metrics.TokensFromServer)
	j.Recount(12345, 5, metrics.TokensFromServer) // of no request
	j.End(metrics.Run{End: metrics.End{Ended: time.Second}})
	j.Recount(qs[1].Index, 99, metrics.TokensFromServer) // too late for the file
	want := slices.Clone(before)
	want[0].OutputTokens, want[0].OutputSource = 77, metrics.TokensFromServer
	read, requests, err := readRun(f.Name())
	if err != nil || read.Damaged > 0 {
		t.Fatalf("%v, %d damaged lines: %v", err, read.Damaged, read.Events)
	}
	for name, got := range map[string][]metrics.Request{"live": collect(t, j.Records()), "read": collect(t, requests), "read again": collect(t, requests)} {
		if diff := cmp.Diff(want, got, sameRequest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The place in a conversation and the ideal hits of the prefix cache are kept, and missing where they are not known.
func TestTurnsAreKept(t *testing.T) {
	for _, q := range []metrics.Request{
		{}, {Turns: 3, Turn: 2, Conversation: 7, IdealKnown: true}, {IdealKnown: true, IdealTokens: 96, Turns: 1},
	} {
		line := appendRequest(nil, &q)
		if has := strings.Contains(string(line), `"ideal_tokens"`); has != q.IdealKnown {
			t.Errorf("%s", line)
		}
		e, err := decodeLine(line[:len(line)-1])
		if err != nil {
			t.Fatal(err)
		}
		got := e.request
		if got.Turns != q.Turns || got.Turn != q.Turn || got.Conversation != q.Conversation || got.IdealKnown != q.IdealKnown || got.IdealTokens != q.IdealTokens {
			t.Errorf("%s gives %+v", line, got)
		}
	}
}

// The journal of conversations gives the report of the run.
func TestReportOfConversations(t *testing.T) {
	for seed := range uint64(4) {
		all := eventtest.DrawSessions(seed, 40)
		run := metrics.Run{End: metrics.End{Ended: eventtest.LastDone(all)}, Plan: metrics.Plan{
			Percentiles: []float64{50, 99}, Warmup: 3 * time.Second, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}},
			Conversations: &metrics.Conversations{Count: 40, Turns: 12.5, Delay: time.Second},
			Workloads:     []metrics.Workload{{Name: "class 1", Share: .5, Goodput: metrics.SLO{{Metric: metrics.E2EL, LimitMS: 3000}}}, {Name: "class 2", Goodput: metrics.SLO{}}},
		}}
		want, err := report.Of(eventtest.Of(run, eventtest.Each(all)))
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewWriter(nil, run.Plan)
		if err != nil {
			t.Fatal(err)
		}
		for e := range eventtest.Of(run, eventtest.Each(all)) {
			if _, plan := e.Value.(metrics.Plan); !plan {
				w.Take(&e)
			}
		}
		var b bytes.Buffer
		if _, err := w.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		w.Close()
		path := filepath.Join(t.TempDir(), "run.jsonl")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := report.Of(Read(path))
		if err != nil {
			t.Fatal(err)
		}
		if want.Sessions == nil || want.Sessions.Failed == 0 || len(want.Turns) < 10 || want.Good == 0 {
			t.Errorf("seed %d: the run is too plain: %+v", seed, want.Sessions)
		}
		for what, x := range map[string][2]any{
			"turns": {want.Turns, got.Turns}, "classes": {want.Classes, got.Classes}, "sessions": {want.Sessions, got.Sessions},
			"ideal": {want.Ideal, got.Ideal}, "good": {want.Good, got.Good}, "levels": {want.Levels, got.Levels},
		} {
			if diff := cmp.Diff(x[0], x[1], sameHistogram); diff != "" {
				t.Errorf("seed %d: %s (-run +journal):\n%s", seed, what, diff)
			}
		}
	}
}
