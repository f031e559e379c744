package trace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"benchtop/datasets/lengths"
	"benchtop/internal/assert"
)

// read is a trace of a text, and its requests in words.
func read(text string, o Options) (*Requests, string, error) {
	o.Speed = cmp.Or(o.Speed, 1)
	q, err := Read(context.Background(), strings.NewReader(text), o)
	if err != nil {
		return nil, "", err
	}
	var all []string
	for i := range q.Len() {
		r := q.At(i)
		all = append(all, fmt.Sprintf("%v %d/%d", r.At, r.Input, r.Output))
	}
	return q, strings.Join(all, ", "), nil
}

const (
	azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 " +
		"18:17:04.0319600,3180,8\n2023-11-16 18:17:14.0319600,110,27"
	burst = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,GPT-4,472,18,490,Conversation " +
		"log\n45,ChatGPT,1087,0,1087,\"Conversation, log\"\n118,GPT-4,417,276,693,Conversation log\n"
	moon = `{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]}` + "\n" +
		`{"timestamp": 3052, "input_length": 7322, "output_length": 490, "hash_ids": [0]}`
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          Options
		want       string
		unit       float64
		empty      int
		sorted     bool
	}{
		{name: "Azure", text: azure, want: "0s 4808/10, 52ms 3180/8, 10.052s 110/27"},
		{name: "BurstGPT", text: burst, want: "0s 472/18, 1m53s 417/276", unit: 1, empty: 1},
		{name: "Mooncake", text: moon, want: "0s 6758/500, 3.052s 7322/490", unit: 1e-3},
		{name: "Mooncake in seconds", text: moon, o: Options{Unit: 1}, want: "0s 6758/500, 50m52s 7322/490", unit: 1},
		{name: "fractions are seconds", text: strings.Replace(moon, ": 0,", ": 0.0,", 1),
			want: "0s 6758/500, 50m52s 7322/490", unit: 1},
		{name: "Bailian",
			text: `{"chat_id":159,"timestamp":61.114,"input_length":521,"output_length":132,"turn":2}` + "\n" +
				`{"chat_id":160,"timestamp":61.214,"input_length":5,"output_length":1,"turn":2}`,
			want: "0s 521/132, 100ms 5/1", unit: 1},
		{name: "milliseconds since 1970",
			text: "timestamp,input_length,output_length\n1700000000000,1,2\n1700000000250,3,4",
			want: "0s 1/2, 250ms 3/4", unit: 1e-3},
		{name: "dates in JSON", text: `{"arrival":"2024-05-10T00:00:00.5Z","prompt_tokens":5,"completion_tokens":"6"}`,
			want: "0s 5/6"},
		{name: "named columns", text: "a,b,c,timestamp\n1,2,3,4\n2,3,4,5\n",
			o: Options{Columns: Columns{Input: "c", Output: "a"}}, want: "0s 3/1, 1s 4/2", unit: 1},
		{name: "as JSON", text: `{"x":{"a":1},"in \u00e9":7,"out":8,"t":1}` + "\n\n" + `{"t":3,"out":8.0,"in é":9}`,
			o: Options{Columns: Columns{Timestamp: "t", Input: "in é", Output: "out"}}, want: "0s 7/8, 2s 9/8",
			unit: 1},
		{name: "out of order", text: "time,isl,osl\n5,1,1\n3,2,2\n7,3,3\n3,4,4\n",
			want: "0s 2/2, 0s 4/4, 2s 1/1, 4s 3/3", unit: 1, sorted: true},
		{name: "the first rows", text: "time,isl,osl\n5,1,1\n3,2,2\n7,3,3\nbroken", o: Options{Most: 2},
			want: "0s 2/2, 2s 1/1", unit: 1, sorted: true},
		{name: "more than there are", text: burst, o: Options{Most: 9}, want: "0s 472/18, 1m53s 417/276", unit: 1,
			empty: 1},
		{name: "twice the speed", text: burst, o: Options{Speed: 2}, want: "0s 472/18, 56.5s 417/276", unit: 1,
			empty: 1},
		{name: "a part", text: "time,isl,osl\n100,1,1\n105,-1,x\n110,2,2\n111,3,3\n120,4,4",
			o: Options{From: 10 * time.Second, To: 20 * time.Second, Speed: 0.5}, want: "0s 2/2, 2s 3/3", unit: 1},
		{name: "the end", text: "time,isl,osl\n100,1,1\n112,2,2\n120,4,4", o: Options{From: 10 * time.Second, Most: 1},
			want: "2s 2/2", unit: 1},
		{name: "the beginning", text: "time,isl,osl\n100,1,1\n99,2,2\n112,2,2\n120,4,4",
			o: Options{To: 12 * time.Second}, want: "0s 2/2, 1s 1/1", unit: 1, sorted: true},
		{name: "Windows", text: "\ufefftime , isl,osl\r\n\r\n\"1\",\" 2\",3\r\n", want: "0s 2/3", unit: 1},
		{name: "a blank first line", text: "\n\n" + moon, want: "0s 6758/500, 3.052s 7322/490", unit: 1e-3},
	} {
		q, got, err := read(c.text, c.o)
		if err != nil || got != c.want || q.Unit != c.unit || q.Empty != c.empty || q.Sorted != c.sorted {
			t.Errorf("%s: got %s, %+v, error %v, want %s", c.name, got, q, err, c.want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          Options
		want       string
	}{
		{name: "empty", text: "", want: "the file is empty; expected a table with a header, or an object on each line"},
		{name: "a header alone", text: "time,isl,osl\n", want: "the file has no rows; expected a table"},
		{name: "no lengths", text: "time,model\n1,a",
			want: `no column has a known name for the input; give it with --trace-columns input=NAME; the columns ` +
				`are ` +
				`"time", "model"`},
		{name: "no time", text: `{"isl":1}`,
			want: `no column has a known name for the timestamp; give it with --trace-columns timestamp=NAME; the ` +
				`columns are "isl"`},
		{name: "no fields", text: `{}`, want: `the columns are none`},
		{name: "another column", text: burst, o: Options{Columns: Columns{Output: "osl\n"}},
			want: `unknown column "osl\n"; the columns are "Timestamp", "Model", "Request tokens", "Response ` +
				`tokens", ` +
				`"Total tokens", "Log Type"`},
		{name: "very many columns", text: strings.Repeat("a,", 5000) + "b\n1", want: `"a", "a" and 4981 more`},
		{name: "a bad length", text: azure + "\n2023-11-16 18:17:15,12.5,3",
			want: `line 5: column "ContextTokens": expected a whole number from 0 to 16777216: got "12.5"`},
		{name: "a missing cell", text: azure + "\n2023-11-16 18:17:15,12",
			want: `line 5: column "GeneratedTokens": expected a whole number from 0 to 16777216: got nothing`},
		{name: "a missing field", text: moon + "\n{\"timestamp\":5}",
			want: `line 3: column "input_length": expected a whole number from 0 to 16777216: got nothing`},
		{name: "null", text: strings.ReplaceAll(moon, "500", "null"),
			want: `line 1: column "output_length": expected a whole number from 0 to 16777216: got null`},
		{name: "a bad time", text: azure + "\nsoon,1,1",
			want: `line 5: column "TIMESTAMP": expected a time like the first one, 2023-11-16 18:17:03: got "soon"`},
		{name: "another century", text: azure + "\n2026-11-16 18:17:15,1,1",
			want: `line 5: column "TIMESTAMP": "2026-11-16 18:17:15" is 26304h0m11.02004s from the first one, more ` +
				`than a year`},
		{name: "too many cells", text: azure + "\n1,2,3,4", want: "line 5: 4 cells, more than the 3 of the header"},
		{name: "an array", text: "[{}]", want: "line 1: expected one object on each line: got an array"},
		{name: "broken JSON", text: moon + "\n{", want: "line 3: the file ends before its last object does"},
		{name: "gzip", text: "\x1f\x8brest", want: "gzip -d"},
		{name: "Parquet", text: "PAR1\x15\x04rest", want: "this is a Parquet file; write its rows as JSON Lines first"},
		{name: "Latin-1", text: "time,isl,osl\n1,2,3\n1,\xe9,3", want: "line 3: the text is not UTF-8"},
		{name: "nothing but zeros", text: "time,isl,osl\n1,0,3\n1,5,0",
			want: "none of the requests has both input and output tokens; 2 were read"},
		{name: "beyond the end", text: burst, o: Options{From: time.Hour},
			want: "no request lies in the part of the trace that was asked for; the last of 3 is 1m53s after the " +
				"first"},
		{name: "too slow", text: burst, o: Options{Speed: 1e-9},
			want: "at a speed of 1e-09 the trace would go on for more than a year"},
	} {
		_, _, err := read(c.text, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		} else if len(err.Error()) > 600 {
			t.Errorf("%s: got an error of %d bytes", c.name, len(err.Error()))
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	assert.Is(t, assert.Failure(Read(stopped, strings.NewReader(azure), Options{Speed: 1})), context.Canceled)
	broken := io.MultiReader(strings.NewReader(burst), iotest.ErrReader(errors.New("disk on fire")))
	assert.Complains(t, assert.Failure(Read(t.Context(), broken, Options{Speed: 1})), "disk on fire")
}

func TestParseColumns(t *testing.T) {
	for _, c := range []struct {
		text string
		want Columns
		err  string
	}{
		{"", Columns{}, ""},
		{"timestamp=a,input=b c,output=d=e", Columns{"a", "b c", "d=e", ""}, ""},
		{" output = o ", Columns{Output: "o"}, ""},
		{"time=a", Columns{}, `expected timestamp=NAME,input=NAME,output=NAME, or some of these: got "time=a"`},
		{"input", Columns{}, `got "input"`},
		{"input=a,", Columns{}, `got ""`},
		{"input=a,input=b", Columns{}, "the column of the input is named twice"},
	} {
		got, err := ParseColumns(c.text)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: got %+v, %v, want %+v %s", c.text, got, err, c.want, c.err)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Speed: 2, From: 1, To: 2}, ""},
		{Options{}, "the speed 0 must be above 0"},
		{Options{Speed: math.NaN()}, "the speed NaN"},
		{Options{Speed: math.Inf(1)}, "the speed +Inf"},
		{Options{Speed: 1, From: 5, To: 5}, "the part of the trace from 5ns to 5ns is empty"},
		{Options{Speed: 1, From: -1}, "from -1ns"},
	} {
		if err := c.o.Validate(); (err == nil) != (c.want == "") ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.o, err, c.want)
		}
	}
}

// Requests of many chunks keep their order and lengths, sorted or not.
func TestManyRequests(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 50_000
	var text strings.Builder
	text.WriteString("time,isl,osl\n")
	var want []int
	for i := range n {
		at := rng.IntN(1000)
		want = append(want, at)
		fmt.Fprintf(&text, "%d,%d,%d\n", at, i+1, at+1)
	}
	q, err := Read(t.Context(), strings.NewReader(text.String()), Options{Speed: 1})
	if err != nil || q.Len() != n {
		t.Fatal(q.Len(), err)
	}
	first, last := time.Duration(q.At(0).Output-1), &Request{At: -1}
	for i := range n {
		r := q.At(i)
		if r.At < last.At || r.At == last.At && r.Input <= last.Input || want[r.Input-1] != int(r.Output)-1 ||
			r.At != (time.Duration(r.Output-1)-first)*time.Second {
			t.Fatalf("request %d is %+v behind %+v", i, r, last)
		}
		last = r
	}
}

// FuzzRead holds that a trace is read the same however it is cut up, that its times do not go back, and that lengths
// are in bounds.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", azure, burst, moon, "time,isl,osl\n\"a\nb\",2,3", "time,isl,osl\n5,1,1\n3,2,2\n",
		"\ufeff" + moon, "{}", "[]", "time,isl,osl\n1e300,1,1\n-1e300,1,1"} {
		f.Add([]byte(text), int64(0), int64(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, from, to int64) {
		o := Options{Speed: 3, From: time.Duration(from), To: time.Duration(to)}
		if o.Validate() != nil {
			return
		}
		q, err := Read(t.Context(), bytes.NewReader(data), o)
		slow, slowErr := Read(t.Context(), iotest.OneByteReader(bytes.NewReader(data)), o)
		assert.Need(t, fmt.Sprint(err), fmt.Sprint(slowErr), "at once %v, byte by byte %v", err, slowErr)
		if err != nil {
			return
		}
		if q.Len() == 0 || q.Len() != slow.Len() {
			t.Fatalf("%d requests, byte by byte %d", q.Len(), slow.Len())
		}
		now := time.Duration(0)
		for i := range q.Len() {
			r := q.At(i)
			if *r != *slow.At(i) || r.At < now || r.At > Longest || r.Input < 1 || r.Input > lengths.Most ||
				r.Output < 1 || r.Output > lengths.Most {
				t.Fatalf("request %d: %+v, byte by byte %+v", i, r, slow.At(i))
			}
			now = r.At
		}
	})
}

// rowsOf is a CSV file of n rows, made as it is read.
func rowsOf(n int) io.Reader {
	r, w := io.Pipe()
	go func() {
		buffer := []byte("TIMESTAMP,ContextTokens,GeneratedTokens\n")
		begun := time.Date(2023, 11, 16, 18, 17, 3, 0, time.UTC)
		for i := range n {
			buffer = begun.Add(time.Duration(i)*time.Millisecond).AppendFormat(buffer, "2006-01-02 15:04:05.0000000")
			buffer = fmt.Appendf(buffer, ",%d,%d\n", i%5000+1, i%500+1)
			if len(buffer) > 1<<16 {
				_, _ = w.Write(buffer)
				buffer = buffer[:0]
			}
		}
		_, _ = w.Write(buffer)
		_ = w.Close()
	}()
	return r
}

// BenchmarkRead says how long a row takes.
func BenchmarkRead(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		q, err := Read(b.Context(), rowsOf(n), Options{Speed: 1})
		if err != nil || q.Len() != n {
			b.Fatal(err)
		}
		runtime.KeepAlive(q)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}

func FuzzParseColumns(f *testing.F) {
	for _, text := range []string{"", "timestamp=a,input=b c,output=d=e", "output=", ",", "input=a,input=a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseColumns(text); err == nil && text != "" && c == (Columns{}) {
			t.Errorf("%q names no column and is no error", text)
		}
	})
}
