package journal

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// A line with its chunks cut out gives the same request as the whole line, and the same errors.
func TestCutChunks(t *testing.T) {
	for _, lists := range []string{
		`"chunks_us":[1]`, `"chunks_us":[1,-2,0,-0,30]`, `"chunks_us":[1,2],"chunk_tokens":[0,7]`,
		`"chunks_us":[1,2],"text":"a","chunk_tokens":[0,7]`, `"chunk_tokens":[0,7],"chunks_us":[1,2]`,
		`"chunks_us":[]`, `"chunks_us":[],"chunk_tokens":[]`, `"chunks_us":[1,2],"chunk_tokens":[1]`,
		`"chunks_us":[1],"chunk_tokens":[4294967296]`,
		`"chunks_us":[01]`, `"chunks_us":[1.5]`, `"chunks_us":[1e3]`, `"chunks_us":[-]`, `"chunks_us":[1,]`,
		`"chunks_us":[,1]`, `"chunks_us":[1 ,2]`,
		`"chunks_us":[1`, `"chunks_us":[`, `"chunks_us":[1,2`, `"chunks_us":["]"]`,
		`"chunks_us":[1,2],"chunk_tokens":[1,2`, `"chunks_us":[[1]]`,
		`"chunks_us":[31622400000000,31622400000000]`, `"chunks_us":[9999999999999999999999]`,
		`"chunks_us":[1],"chunk_tokens":[x]`,
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
		} else if err == nil && (!slices.Equal(got.Request.Chunks, want.Request.Chunks) || got.Request.Status != 200 ||
			got.Request.ID != want.Request.ID) {
			t.Errorf("%s: got %+v, want %+v", lists, got.Request, want.Request)
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
	if err != nil || len(e.Request.Chunks) != len(q.Chunks) {
		t.Fatal(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 24<<20 {
		t.Errorf("%d MB were taken for 16 MB of chunks", took>>20)
	}
	values := []byte(`{"index":1,"x":[` + strings.Repeat("0,", maxValues) + `0]}`)
	if _, err := decodeLine(values); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("at most %d values", maxValues)) {
		t.Errorf("a line of %d values gave %v", maxValues+1, err)
	}
}

// The longest request can be read back, whatever its text.
func TestLongestLineIsRead(t *testing.T) {
	ci.SkipUnderRace(t)
	for i, letter := range []string{"\x01", ",", "\"", "a"} {
		q := metrics.NewRequest(0)
		q.Text = strings.Repeat(letter, metrics.MostText)
		if i == 0 { // with the letter that takes the most
			q.Chunks = make([]metrics.Chunk, 1<<20)
		}
		for i := range q.Chunks {
			q.Chunks[i] = metrics.Chunk{At: time.Duration(i) * 20 * time.Millisecond, Tokens: int32(i % 3)}
		}
		line := appendRequest(nil, &q)
		perChunk := (len(line) - 6*metrics.MostText) / max(1, len(q.Chunks))
		if perChunk > 10 || len(line) > maxLineBytes {
			t.Errorf("%q: a line of %d bytes, %d for each chunk", letter, len(line), perChunk)
		}
		if e, err := decodeLine(line[:len(line)-1]); err != nil || e.Request.Text != q.Text ||
			len(e.Request.Chunks) != len(q.Chunks) {
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
	j.tell(0, metrics.Recount{Index: first, Tokens: 77, Source: metrics.TokensFromServer})
	j.tell(0, metrics.Recount{Index: 12345, Tokens: 5, Source: metrics.TokensFromServer}) // of no request
	j.End(metrics.Run{End: metrics.End{Ended: time.Second}})
	// too late for the file
	j.tell(0, metrics.Recount{Index: qs[1].Index, Tokens: 99, Source: metrics.TokensFromServer})
	want := slices.Clone(before)
	want[0].OutputTokens, want[0].OutputSource = 77, metrics.TokensFromServer
	read, requests, err := readRun(f.Name())
	if err != nil || read.Damaged > 0 {
		t.Fatalf("%v, %d damaged lines: %v", err, read.Damaged, read.Events)
	}
	for name, got := range map[string][]metrics.Request{"live": collect(t, j.Records()), "read": collect(t, requests),
		"read again": collect(t, requests)} {
		assert.Same(t, name, got, want, sameRequest)
	}
}
