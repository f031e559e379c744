package preview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/tui/tuitest"
)

// near reports whether two numbers are the same but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// blocks are requests of a trace with hash ids of 16 tokens, one for each digit or letter.
func blocks(a *Analysis, seconds int, input, output int, ids string) {
	r := Request{Input: input, Output: output, At: time.Duration(seconds) * time.Second, Timed: true}
	p := Prompt{Tokens: input, BlockTokens: 16, Blocks: []uint64{}}
	for _, id := range ids {
		p.Blocks = append(p.Blocks, uint64(id))
	}
	r.Prompts = []Prompt{p}
	a.Add(r)
}

// The figures of a small trace were computed by hand.
//
//	      prompt  in common    hits of 16   of 32   of 64
//	0123      64          0             0       0       0
//	01234     80         64            64      64      64
//	0123      64         64            48      32       0   at least a token is computed
//	019       40         32            32      32       0
//	7         16          0             0       0       0
//	01234…   200         80            80      64      64
//	         464                      224     192     128
func TestAnalysisByHand(t *testing.T) {
	a := NewAnalysis()
	blocks(a, 0, 64, 10, "0123")
	blocks(a, 1, 80, 20, "01234")
	blocks(a, 2, 64, 10, "0123")
	blocks(a, 6, 40, 5, "019")
	blocks(a, 6, 16, 1, "7")
	blocks(a, 12, 200, 40, "01234abcdefgh")
	var hits []int
	for _, size := range a.prefixes.sizes {
		hits = append(hits, size.tokens, size.hits)
	}
	assert.Same(t, "hits by block size", hits, []int{16, 224, 32, 192, 64, 128, 128, 0, 256, 0, 512, 0})
	p := &a.prefixes
	if some, all := p.main(0.9); p.total != 464 || p.cached != 208 || p.reused != 80 || some != 4 || all != 4 {
		t.Errorf("%d tokens, working set %d with %v again, %d of %d prefixes", p.total, p.cached, p.reused, some, all)
	}
	if some, _ := p.main(0.8); some != 3 { // 80 + 64 + 48 of 224
		t.Errorf("%d prefixes have four fifths of the hits", some)
	}
	p.others = 5000 // of prefixes that are not kept
	if some, all := p.main(0.9); some != 0 || all != 4 {
		t.Errorf("%d of %d prefixes, want an unknown number", some, all)
	}
	x := &a.arrivals
	if x.duration() != 12*time.Second || !near(x.rate(), 5.0/12) || !near(x.cv(), math.Sqrt(5.04)/2.4) ||
		!near(x.burstiness(), 5.76/5.04) || x.second.most != 2 || x.minute.most != 6 {
		t.Errorf("%v, %v/s, cv %v, burstiness %v, peaks %d and %d", x.duration(), x.rate(), x.cv(), x.burstiness(),
			x.second.most, x.minute.most)
	}
	if l := &a.input; l.sum != 464 || !near(l.std()*l.std(), 20565.0/6+1.0/18) || l.quantile(0.5) != 64 ||
		l.quantile(0.9) != 200 {
		t.Errorf("lengths: %+v with a variance of %v", l, l.std()*l.std())
	}
	// Deviations: -40/3 8/3 -40/3 -112/3 -184/3 368/3 and -13/3 17/3 -13/3 -28/3 -40/3 77/3
	if want := (520.0 + 136 + 520 + 3136 + 7360 + 28336) / 9 / math.Sqrt(
		(20565+1.0/3)*(169+289+169+784+1600+5929)/9.0); !near(a.joint.correlation(), want) {
		t.Errorf("correlation %v, want %v", a.joint.correlation(), want)
	}
	if diff := cmp.Diff(map[[2]int]int{{7, 4}: 2, {7, 5}: 1, {6, 3}: 1, {5, 1}: 1, {8, 6}: 1}, a.joint.cells); diff !=
		"" {
		t.Errorf("joint: -want, +got\n%s", diff)
	}
}

// Prompts of token ids share with blocks of one token what they have in common, and with larger ones whole blocks of
// it.
func TestPrefixesOfTokenIDs(t *testing.T) {
	ids := func(from, n int) (all []int) {
		for i := range n {
			all = append(all, from+i)
		}
		return all
	}
	a := NewAnalysis()
	for _, prompt := range [][]int{ids(0, 100), append(ids(0, 33), ids(500, 20)...), ids(0, 32), ids(1, 50), {}} {
		a.AddConversation(&datasets.Conversation{Turns: []datasets.Turn{{TokenIDs: prompt, InputTokens: len(prompt)}}},
			false)
	}
	got := map[int]int{}
	for _, size := range a.prefixes.sizes {
		got[size.tokens] = size.hits
	}
	assert.Same(t, "hits", got, map[int]int{1: 33 + 31, 16: 32 + 16, 32: 32, 64: 0, 128: 0, 256: 0, 512: 0})
	if a.unanswered != 5 || a.output.n != 0 || a.arrivals.n != 0 {
		t.Errorf("%d answers of unknown length, %d arrivals", a.unanswered, a.arrivals.n)
	}
}

// Texts share the part of their tokens that they share of their bytes.
func TestPrefixesOfTexts(t *testing.T) {
	a := NewAnalysis()
	same := strings.Repeat("0123456789", 64)
	for _, end := range []string{"a", "b"} { // 640 bytes in common of 1280, so 200 tokens of 400
		text := same + strings.Repeat(end, 640)
		a.AddConversation(&datasets.Conversation{Turns: []datasets.Turn{{Text: text, InputTokens: 400}}}, false)
	}
	// 160 tokens each, by an estimate: 160 of the first and 159 of the second
	batch := []datasets.Turn{{Text: same}, {Text: same}}
	a.AddConversation(&datasets.Conversation{Turns: []datasets.Turn{{Batch: batch, InputTokens: 320}}}, false)
	if p := &a.prefixes; p.sizes[0].hits != 200+159+159 || p.sizes[1].hits != 192+144+144 || !p.texts ||
		p.total != 1120 {
		t.Errorf("%+v", p)
	}
}

func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		name   string
		ms     []int
		rate   float64
		cv     float64
		back   int
		second int
	}{
		{"nothing", nil, math.NaN(), math.NaN(), 0, 0},
		{"one", []int{5}, math.NaN(), math.NaN(), 0, 1},
		{"two", []int{5, 505}, 2, math.NaN(), 0, 2},
		{"all at once", []int{7, 7, 7}, math.Inf(1), math.NaN(), 0, 3},
		{"constant", []int{0, 500, 1000, 1500}, 2, 0, 0, 2},
		{"going back", []int{0, 1000, 400, 2000}, 1.5, math.Sqrt(2.0/9) / (2.0 / 3), 1, 2},
		{"from an hour on", []int{3600000, 3600900, 3601100}, 2 / 1.1, 0.35 / 0.55, 0, 2},
	} {
		var a arrivals
		for _, ms := range c.ms {
			a.add(time.Duration(ms) * time.Millisecond)
		}
		same := func(a, b float64) bool { return near(a, b) || a == b || math.IsNaN(a) && math.IsNaN(b) }
		if len(c.ms) > 1 && !same(a.rate(), c.rate) || !same(a.cv(), c.cv) || a.back != c.back ||
			a.second.most != c.second {
			t.Errorf("%s: %v/s, cv %v, %d back, at most %d in a second", c.name, a.rate(), a.cv(), a.back,
				a.second.most)
		}
	}
}

// A series of any length is bounded, and keeps every arrival through all widths and columns.
func TestSeries(t *testing.T) {
	a := arrivals{}
	n := 0
	for at := time.Duration(1); at < 400*24*time.Hour; at = at*11/10 + 1 {
		a.add(at)
		if n++; len(a.series.n) > mostIntervals {
			t.Fatalf("%d intervals", len(a.series.n))
		}
		sum, spread := 0, 0.0
		for _, x := range a.series.n {
			sum += x
		}
		if a.duration() > 0 {
			for _, x := range a.series.spread(50, a.duration()) {
				spread += x
			}
			if sum != n || math.Abs(spread-float64(n)) > 1e-6 {
				t.Fatalf("%d arrivals, %d in the series, %v in columns", n, sum, spread)
			}
		}
	}
}

// With names for a part of the prefixes only, block sizes that may have more hits say so.
func TestPrefixesInLittleMemory(t *testing.T) {
	a := NewAnalysis()
	a.prefixes = newPrefixes(1000)
	for i := range 100 {
		var ids []int
		for j := range 640 {
			ids = append(ids, j+max(0, j-319)*(i+1)*1000)
		}
		a.Add(Request{Input: len(ids), Output: Unknown, Prompts: []Prompt{{Tokens: len(ids), IDs: ids}}})
	}
	p := &a.prefixes
	if stride := p.seen.Stride(); stride < 2 || !p.atLeast(1) || p.atLeast(512) {
		t.Errorf("a stride of %d", stride)
	}
	if got := p.sizes[len(p.sizes)-2]; got.tokens != 256 || got.hits != 99*256 {
		t.Errorf("%d hits with blocks of %d", got.hits, got.tokens)
	}
}

// madeUp is an analysis of everything, the same each time.
func madeUp() *Analysis {
	a := NewAnalysis()
	a.About = About{Source: "traces/made-up.jsonl",
		Form: "trace of lengths with the blocks of prompts: columns timestamp, input_length, output_length, " +
			"hash_ids",
		Dataset: []string{"--dataset-name", "timed_trace", "--timed-trace-chunk-hash-size", "16"},
		Tokens:  "lengths of the file",
		Notes: []string{"a hash id stands for 16 tokens, by the lengths",
			"time stamps are taken as s; another unit with --trace-unit"}}
	at := time.Duration(0)
	for i := range 600 {
		at += time.Duration(i*i%37) * 10 * time.Millisecond
		n := 3 + i*i%29 + i%5*40
		p := Prompt{BlockTokens: 16, Tokens: 16*n - i%16, Blocks: []uint64{}}
		for j := range n {
			id := j
			if j > 4*(i%7) {
				id += 1000 * (i%90 + 1)
			}
			p.Blocks = append(p.Blocks, uint64(id))
		}
		output := 1 << (i * 7 % 11)
		if i%50 == 0 {
			output = Unknown
		}
		a.Add(Request{Input: p.Tokens, Output: output, At: at, Timed: true, Prompts: []Prompt{p}})
	}
	return a
}

func TestAnalysisText(t *testing.T) {
	a := madeUp()
	for _, o := range []Options{{Columns: 80}, {Columns: 120}, {Columns: 80, ASCII: true}} {
		o.Clean = func(s string) string { return s }
		var b strings.Builder
		assert.Fine(t, a.Text(&b, o))
		name := fmt.Sprintf("analysis-%d%s.txt", o.Columns, map[bool]string{true: "-ascii"}[o.ASCII])
		tuitest.Golden(t, name, b.String())
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if w := uniseg.StringWidth(line); w > o.Columns {
				t.Errorf("%s: %d columns: %s", name, w, line)
			}
			if o.ASCII && strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
				t.Errorf("%s: not ASCII: %s", name, line)
			}
		}
	}
}

func TestAnalysisJSON(t *testing.T) {
	data := assert.Must(json.Marshal(madeUp()))(t)
	var b bytes.Buffer
	assert.Fine(t, json.Indent(&b, data, "", " "))
	tuitest.Golden(t, "analysis.json", b.String()+"\n")
}

// Little to say is no reason to fail.
func TestAnalysisOfLittle(t *testing.T) {
	for _, c := range []struct {
		name       string
		of         []Request
		text, json string
	}{
		{"nothing", nil, "requests             0\n", `"input_tokens":null`},
		{"one", []Request{{Input: 5, Output: 3, Timed: true}},
			"--num-prompts 1 --random-input-len 5 --random-output-len 3", `"requests_per_s":null`},
		{"empty", []Request{{}, {}}, "--random-input-len 1 --random-output-len 1", `"correlation":null`},
		{"at once", []Request{{Input: 1, Timed: true}, {Input: 2, Timed: true}, {Input: 9, Timed: true}}, "all at once",
			`"gap_cv":null`},
		{"constant", []Request{{Input: 1, Timed: true}, {Input: 1, Timed: true, At: 1e9},
			{Input: 1, Timed: true, At: 2e9}}, "inf: regular (the gaps vary by a CV of 0.00", `"burstiness":null`},
		{"huge", []Request{{Input: 1 << 24, Output: 1 << 24}, {Input: 1, Output: 1}},
			"  128k    1M    8M\n       0   ██ 50\n       2\n", `"input_to":33554431`},
	} {
		a := NewAnalysis()
		for _, r := range c.of {
			a.Add(r)
		}
		var b strings.Builder
		assert.Fine(t, a.Text(&b, Options{Columns: 80, Clean: func(s string) string { return s }}))
		data := assert.Must(json.Marshal(a))(t)
		if !strings.Contains(b.String(), c.text) || !strings.Contains(string(data), c.json) {
			t.Errorf("%s: no %q or no %s in\n%s%s", c.name, c.text, c.json, b.String(), data)
		}
	}
}

func BenchmarkAnalysis(b *testing.B) {
	a := NewAnalysis()
	ids := make([]int, 4000)
	r := Request{Input: len(ids), Output: 100, Timed: true, Prompts: []Prompt{{Tokens: len(ids), IDs: ids}}}
	b.ReportAllocs()
	b.SetBytes(int64(len(ids)))
	for i := 0; b.Loop(); i++ {
		for j := range ids {
			ids[j] = j * (i + j/1000)
		}
		r.At += time.Millisecond
		a.Add(r)
	}
}
