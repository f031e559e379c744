package plot

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/export/charts"
	"benchtop/internal/assert"
	"benchtop/internal/files"
)

// recordsOf reads records from JSON.
func recordsOf(t testing.TB, list string) []Record {
	t.Helper()
	records := assert.Must(parse([]byte(list)))(t)
	return records
}

func parse(list []byte) (records []Record, err error) {
	all, err := files.ParseResults(list)
	for i, raw := range all {
		r := newRecord(raw, i+1)
		r.Path = "summary.json"
		records = append(records, r)
	}
	return records, err
}

const mixed = `[
	{"n": 1, "f": 1.5, "b": true, "s": "vllm", "t": "8", "none": null, "rate": "inf", "x": 1},
	{"n": 8, "f": 8.0, "b": false, "s": "sglang", "t": "8", "none": null, "rate": 4, "x": "a"},
	{"n": 64, "b": null, "s": "vllm", "t": "9", "none": null, "rate": NaN, "x": null}
]`

// The results are those of pandas in vLLM's own plot.
func TestFilters(t *testing.T) {
	for _, c := range []struct {
		filters string
		want    []int // the n of those kept
		trouble string
	}{
		{"n==8", []int{8}, ""},
		{"n == 8.0", []int{8}, ""},
		{"n!=8", []int{1, 64}, ""},
		{"n>=8,n<64", []int{8}, ""},
		{"n<=8", []int{1, 8}, ""},
		{"f==8", []int{8}, ""},
		{"f!=8", []int{1, 64}, ""},
		{"f<100", []int{1, 8}, ""},
		{"s==vllm", []int{1, 64}, ""},
		{"s=='vllm'", []int{1, 64}, ""},
		{`s=="vllm"`, []int{1, 64}, ""},
		{"s!=vllm", []int{8}, ""},
		{"t==8", nil, ""},
		{"t!=8", []int{1, 8, 64}, ""},
		{"b==TRUE", []int{1}, ""},
		{"b!=true", []int{8, 64}, ""},
		{"b==1", []int{1}, ""},
		{"s==true", nil, ""},
		{"n==abc", nil, ""},
		{"none!=5", []int{1, 8, 64}, ""},
		{"none<5", nil, ""},
		{"rate==inf", []int{1}, ""},
		{"rate>2", []int{1, 8}, ""},
		{"n<=8==1", nil, "n<"}, // == is searched for first
		{"s<5", nil, "summary.json, entry 1 has vllm"},
	} {
		filters, err := ParseFilters(c.filters)
		records := recordsOf(t, mixed)
		for _, f := range filters {
			if err == nil && c.trouble != "n<" {
				records, err = f.apply(records)
			}
		}
		if c.trouble == "n<" {
			if filters[0] != (Filter{"n<=8", "==", "1"}) {
				t.Errorf("%s: got %v", c.filters, filters)
			}
			continue
		}
		var got []int
		for _, r := range records {
			got = append(got, int(r.fields["n"].number))
		}
		if c.trouble != "" {
			assert.Fails(t, c.filters, err, c.trouble)
		} else if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: kept %v (%v), want %v", c.filters, got, err, c.want)
		}
	}
}

// All that is wrong with a list is said at once.
func TestBadFiltersAndBins(t *testing.T) {
	_, err := ParseFilters("n,n<abc,==3,,n<5")
	for _, want := range []string{"n: expected", `n<abc: expected a number after <`, "==3: expected the name",
		`"": expected`} {
		assert.Complains(t, err, want)
	}
	if n := strings.Count(err.Error(), "\n"); n != 3 {
		t.Errorf("%d lines, want 4: %v", n+1, err)
	}
	_, err = ParseBins("n,n%0,n%-1,n%x,n%inf,%5,n%5")
	if err == nil || strings.Count(err.Error(), "\n") != 5 {
		t.Errorf("bins: error %v, want 6 problems", err)
	}
}

// A bin rounds as Python's a // b * b does.
func TestBins(t *testing.T) {
	for _, c := range []struct{ v, size, want float64 }{
		{7, 5, 5}, {-1, 5, -5}, {0, 5, 0}, {5, 5, 5}, {1, 0.1, 0.9}, {0.3, 0.1, 0.2}, {12.5, 2.5, 12.5},
		{-0.3, 0.1, -0.30000000000000004},
	} {
		assert.Equal(t, floorDivide(c.v, c.size)*c.size, c.want, "%v in bins of %v", c.v, c.size)
	}
	records, err := Bin{"n", 5}.apply(recordsOf(t, mixed))
	if err != nil || records[1].fields["n"].text != "5.0" || records[2].fields["n"].number != 60 {
		t.Errorf("got %v %v", records, err)
	}
	assert.Complains(t, assert.Failure((Bin{"s", 5}).apply(recordsOf(t, mixed))), "entry 1 has vllm")
	if records, err := (Bin{"none", 5}).apply(recordsOf(t, mixed)); err != nil ||
		records[0].fields["none"].kind != null {
		t.Errorf("nothing in bins: %v %v", records[0].fields["none"], err)
	}
}

const runsOfTwo = `[
	{"seqs": 32, "mc": 1, "run": 0, "ms": 10, "len": 8, "r": "inf"}, {"seqs": 32, "mc": 1, "run": 1, "ms": 14, "len": 8, "r": "inf"},
	{"seqs": 32, "mc": 4, "run": 0, "ms": 20, "len": 8, "r": 2}, {"seqs": 256, "mc": 4, "run": 0, "ms": 30, "len": 64, "r": 3},
	{"seqs": 256, "mc": 1, "run": 0, "ms": null, "len": 64, "r": 4}, {"seqs": 256, "mc": 1.0, "run": 1, "ms": 12, "len": 64, "r": 5}
]`

// outline is a figure as text: panels, curves and points.
func outline(f Figure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %dx%d", f.Group, f.Rows, f.Columns)
	for _, p := range f.Chart.Panels {
		fmt.Fprintf(&b, " [%s", strings.ReplaceAll(p.Title, "\n", ";"))
		for _, c := range p.Curves {
			fmt.Fprintf(&b, " %s/%d%d%d", c.Name, c.Colour, c.Dash, c.Width)
			for _, pt := range c.Points {
				fmt.Fprintf(&b, " %g,%g±%.3g", pt.X, pt.Y, pt.Spread)
			}
		}
		b.WriteString("]")
	}
	for _, n := range f.Chart.Notes {
		b.WriteString(" {" + n + "}")
	}
	return b.String()
}

func TestFigures(t *testing.T) {
	left := " {1 run is left out: no finite mc or ms}"
	for _, c := range []struct {
		name string
		o    Options
		want []string
	}{
		{"one", Options{}, []string{"[] 1x1 [ /000 1,12±2 4,25±7.07]" + left}},
		{"no bands", Options{Bands: false, FigBy: []string{"run"}, Filters: []Filter{{"run", "==", "1"}}},
			[]string{"[[run 0]] 1x1", "[[run 1]] 1x1 [ /000 1,13±0]"}},
		{"figures", Options{FigBy: []string{"seqs"}},
			[]string{"[[seqs 32]] 1x1 [ /000 1,12±2.83 4,20±0]", "[[seqs 256]] 1x1 [ /000 1,12±0 4,30±0]" + left}},
		{"curves", Options{CurveBy: []string{"seqs", "run"}},
			[]string{"[] 1x1 [ seqs=32, run=0/000 1,10±0 4,20±0 seqs=32, run=1/010 1,14±0 seqs=256, run=0/100 4,30±0 " +
				"seqs=256, run=1/110 1,12±0] {1 run is left out: no finite mc or ms or seqs or run}"}},
		{"panels", Options{RowBy: []string{"seqs"}, ColBy: []string{"len"}},
			[]string{"[] 2x1 [seqs=32;len=8 /000 1,12±2.83 4,20±0] [seqs=32;len=64] [seqs=256;len=8] " +
				"[seqs=256;len=64 /000 1,12±0 4,30±0]" + left}},
		{"infinite", Options{X: "r"},
			[]string{"[] 1x1 [ /000 2,20±0 3,30±0 5,12±0] {3 runs are left out: no finite r or ms}"}},
		{"log", Options{X: "run", ScaleX: charts.Log},
			[]string{"[] 1x1 [ /000 1,13±1.41] {1 run is left out: no finite run or ms} {3 runs are left out: the " +
				"scale has no place for their values}"}},
		{"nothing finite", Options{X: "r", Filters: []Filter{{"r", "==", "inf"}}},
			[]string{"[] 1x1 [] {2 runs are left out: no finite r or ms}"}},
		{"nothing", Options{Filters: []Filter{{"mc", ">", "9"}}}, []string{"[] 1x1"}},
	} {
		c.o.X = cmp.Or(c.o.X, "mc")
		c.o.Y, c.o.Bands = "ms", c.name != "no bands"
		figures, err := Figures(recordsOf(t, runsOfTwo), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, f := range figures {
			got = append(got, outline(f))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// A horizontal axis of texts has a place for each, in their order, and more than three fields of curves make one label.
func TestTextsAndManyKeys(t *testing.T) {
	records := recordsOf(t,
		`[{"s": "b", "y": 1, "a": 1, "b": 2, "c": 3, "d": null}, {"s": "a", "y": 2, "a": 1, "b": 2, "c": 3, "d": "x"}]`)
	figures := assert.Must(Figures(records, Options{X: "s", Y: "y", CurveBy: []string{"a", "b", "c", "d"}}))(t)
	got, want := outline(figures[0]), "[] 1x1 [ a=1, b=2, c=3, d=None/000 0,1±0 a=1, b=2, c=3, d=x/100 1,2±0]"
	if got != want || !slices.Equal(figures[0].Chart.X.Categories, []string{"b", "a"}) {
		t.Errorf("got %s %v, want %s", got, figures[0].Chart.X.Categories, want)
	}
	if _, err := Figures(records, Options{X: "y", Y: "s"}); err == nil ||
		!strings.Contains(err.Error(), "--var-y s: expected numbers, but summary.json, entry 1 has b") {
		t.Errorf("text on the vertical axis: %v", err)
	}
}

// Curves are told apart by values, figures and panels by texts, as in vLLM.
func TestNumbersAndTexts(t *testing.T) {
	records := recordsOf(t, `[{"x": 1, "y": 1, "tp": 4}, {"x": 1, "y": 3, "tp": 4.0}]`)
	for _, c := range []struct {
		o    Options
		want int
	}{{Options{CurveBy: []string{"tp"}}, 1}, {Options{RowBy: []string{"tp"}}, 2}} {
		c.o.X, c.o.Y = "x", "y"
		assert.Equal(t, strings.Count(outline(assert.Must(Figures(records, c.o))(t)[0]), "±"), c.want, "%+v", c.o)
	}
}

// Fields that are missing are named all at once, with those that there are and the nearest.
func TestMissingFields(t *testing.T) {
	records := recordsOf(t, `[{"max_concurrency": 1, "ms": 2, "list": [1]}, {"ms": 3}]`)
	_, err := Figures(records, Options{X: "max_concurency", Y: "mss", FigBy: []string{"max_concurrency"},
		Filters: []Filter{{"zz", "==", "1"}}})
	for _, want := range []string{"--var-x: no record has the field max_concurency (did you mean max_concurrency?); " +
		"there are max_concurrency, ms",
		"--var-y: no record has the field mss", "--filter-by: no record has the field zz",
		"--fig-by: summary.json, entry 2 lacks the field max_concurrency"} {
		assert.Complains(t, err, want)
	}
}

func TestMean(t *testing.T) {
	for _, c := range []struct {
		values          []float64
		mean, deviation float64
	}{{[]float64{0.1, 0.1, 0.1}, 0.1, 0}, {[]float64{7}, 7, 0}, {[]float64{1, 3}, 2, math.Sqrt2},
		{[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, math.Sqrt(32.0 / 7)}} {
		if mean, deviation := meanOf(c.values); mean != c.mean || deviation != c.deviation {
			t.Errorf("%v: got %v and %v, want %v and %v", c.values, mean, deviation, c.mean, c.deviation)
		}
	}
}

func TestFieldsOfAPoint(t *testing.T) {
	records := recordsOf(t, `[{"run_number": 0, "a": 1, "s": "x", "d": "u", "n": null, "m": 3}, {"run_number": 1, `+
		`"a": 2, "s": "x", "d": "v", "n": null}]`)
	got := fmt.Sprint(fieldsOf(records))
	if want := "[[runs 2] [a mean 1.5] [s x]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPareto(t *testing.T) {
	for _, c := range []struct {
		name, records string
		o             ParetoOptions
		want          string // each point of all runs, then of the front
		skipped       int
		trouble       string
	}{
		{name: "parallel sizes",
			records: `[{"max_concurrency": 4, "tp": 2, "pipeline-parallel-size": "2", "data_parallel_size": 0, ` +
				`"output_throughput": 80}]`, want: "20,20 | 20,20"},
		{name: "the limit is none",
			records: `[{"max_concurrency": null, "request_rate": 7, "max_concurrent_requests": 5, ` +
				`"output_throughput": 10}]`, want: "2,10 | 2,10"},
		{name: "a rate counts where the field is absent", records: `[{"request_rate": 5, "output_throughput": 10}]`,
			want: "2,10 | 2,10"},
		{name: "an infinite rate counts nobody", o: ParetoOptions{Users: "request_rate"},
			records: `[{"request_rate": "inf", "max_concurrent_requests": 5, "output_throughput": 10}]`,
			want:    "2,10 | 2,10"},
		{name: "skipped",
			records: `[{"max_concurrency": 0, "output_throughput": 1}, {"max_concurrency": 1, "output_throughput": 3}]`,
			want:    "3,3 | 3,3", skipped: 1},
		{name: "GPUs by field", o: ParetoOptions{GPUs: "gpus"},
			records: `[{"max_concurrency": 1, "tp": 8, "gpus": 4, "output_throughput": 8}, {"max_concurrency": 1, ` +
				`"tp": 8, "gpus": 0, "output_throughput": 8}]`, want: "8,2 8,1 | 8,2"},
		{name: "no dominated point",
			records: `[{"max_concurrency": 1, "output_throughput": 10}, {"max_concurrency": 2, "output_throughput": ` +
				`10}, {"max_concurrency": 4, "output_throughput": 30}]`, want: "10,10 5,10 7.5,30 | 7.5,30 10,10"},
		{name: "text", records: `[{"max_concurrency": "many", "output_throughput": 1}]`,
			trouble: "entry 1: max_concurrency: expected a number, got many"},
		{name: "no throughput", records: `[{"max_concurrency": 1}]`, trouble: "entry 1 lacks output_throughput"},
		{name: "infinite", records: `[{"max_concurrency": 1e-300, "output_throughput": 1e300}]`,
			trouble: "entry 1: output_throughput 1e+300 of 1e-300 users"},
		{name: "no users", records: `[{"a": 1}]`, trouble: "none of 1 runs has a number of users"},
	} {
		c.o.Users = cmp.Or(c.o.Users, "max_concurrency")
		p, err := NewPareto(recordsOf(t, c.records), c.o)
		if c.trouble != "" {
			assert.Fails(t, c.name, err, c.trouble)
			continue
		}
		var got []string
		for i, curve := range p.Chart.Panels[0].Curves {
			if i > 0 {
				got = append(got, "|")
			}
			for _, pt := range curve.Points {
				got = append(got, fmt.Sprintf("%g,%g", pt.X, pt.Y))
			}
		}
		if text := strings.Join(got, " "); err != nil || text != c.want || p.Skipped != c.skipped {
			t.Errorf("%s: got %s, %d skipped (%v), want %s, %d", c.name, text, p.Skipped, err, c.want, c.skipped)
		}
	}
	p, err := NewPareto(recordsOf(t, `[{"mc": 4, "name": "big", "output_throughput": 8}]`),
		ParetoOptions{Users: "mc", LabelBy: []string{"name", "no", "gpu_count"}})
	if label := p.Chart.Panels[0].Curves[1].Points[0].Label; err != nil || label != "name=big\ngpu_count=1" ||
		!p.Unsaid {
		t.Errorf("label %q, GPUs unsaid %t (%v)", label, p.Unsaid, err)
	}
}

// Users get the speed at which their answers come, whatever the number of requests in flight; vLLM's figure stays under
// its name.
func TestParetoOfUsers(t *testing.T) {
	const own = `"benchtop": {"output_token_throughput_per_user": {"n": 3, "mean": 1, "median": %d}}`
	records := fmt.Sprintf(`[
		{"request_rate": 4, "max_concurrency": null, "max_concurrent_requests": 20, "output_throughput": 280, "median_tpot_ms": 1, `+own+`},
		{"request_rate": 12, "max_concurrency": null, "max_concurrent_requests": 40, "output_throughput": 720, "median_tpot_ms": 1, `+own+`},
		{"request_rate": 24, "max_concurrency": null, "max_concurrent_requests": 60, "output_throughput": 1380, "median_tpot_ms": 12.8},
		{"request_rate": 24, "max_concurrency": null, "max_concurrent_requests": 60, "output_throughput": 1380, "benchtop": {"output_token_throughput_per_user": {"median": null}}}]`, 85, 79)
	for users, want := range map[string]string{"": "85 79 78.125 | 78.125 79 85, 1 skipped, 14",
		DefaultUsers: "14 18 23 23 | 23 23, 0 skipped, 14"} {
		p := assert.Must(NewPareto(recordsOf(t, records), ParetoOptions{Users: users}))(t)
		all, front := p.Chart.Panels[0].Curves[0].Points, p.Chart.Panels[0].Curves[1].Points
		got := ""
		for _, pt := range all {
			got += fmt.Sprintf("%g ", pt.X)
		}
		got += "|"
		for _, pt := range front {
			got += fmt.Sprintf(" %g", pt.X)
		}
		got += fmt.Sprintf(", %d skipped", p.Skipped)
		for _, f := range all[0].Fields {
			if f[0] == perUserKey {
				got += ", " + strings.TrimSuffix(f[1], ".0")
			}
		}
		assert.Equal(t, got, want, "%q", users)
	}
	if _, err := NewPareto(recordsOf(t, `[{"output_throughput": 1, "max_concurrent_requests": 3}]`),
		ParetoOptions{}); err == nil || !strings.Contains(err.Error(),
		"none of 1 runs has a number of users, or their speed: no output_token_throughput_per_user, median_tpot_ms") {
		t.Errorf("without a speed: %v", err)
	}
}

// Summaries are read at any depth, and what is wrong with one is said with its file and line.
func TestRead(t *testing.T) {
	write := func(files map[string]string) string {
		dir := t.TempDir()
		for name, content := range files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			assert.Fine(t, os.MkdirAll(filepath.Dir(path), 0o777))
			assert.Fine(t, os.WriteFile(path, []byte(content), 0o666))
		}
		return dir
	}
	hide := func(key, text string) string {
		if key == "api_key" {
			return "***"
		}
		return text
	}
	records, err := Read(write(map[string]string{
		"b/c/summary.json": `[{"a": -Infinity, "s": "NaN \" Infinity", "big": 1e999, "int": 12345678901234567890, ` +
			`"l": [1, "x"], "api_key": ["k"]}]`,
		"a/summary.json": "[]", "a/run=0.json": "{", "summary.json": `[{"a": 1}]`,
	}), hide)
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records: %v", len(records), err)
	}
	f := records[0].fields
	if f["a"].number != math.Inf(-1) || f["s"].text != `NaN " Infinity` || f["big"].number != math.Inf(1) ||
		f["int"].text != "12345678901234567890" || f["l"].text != "[1, 'x']" || f["api_key"].text != "***" {
		t.Errorf("got %+v", f)
	}
	if !slices.Equal(records[0].Keys, []string{"a", "s", "big", "int"}) ||
		!strings.HasSuffix(records[0].place(), "summary.json, entry 1") {
		t.Errorf("keys %v of %s", records[0].Keys, records[0].place())
	}
	for content, want := range map[string]string{
		"[\n{\"a\":\n}]":     "summary.json, line 3: invalid character '}'",
		"[{}, 5]":            "summary.json, entry 2: expected an object, got a number",
		"":                   "summary.json, line 1: the file is empty",
		"[{\"a\": NaNa}]":    "summary.json, line 1: invalid character 'a'",
		"[{\"a\": \"half\n]": "summary.json, line",
	} {
		assert.Fails(t, content, assert.Failure(Read(write(map[string]string{"x/summary.json": content}), hide)), want)
	}
	dir, link := write(map[string]string{"summary.json": `[{"a": 1}]`}), filepath.Join(t.TempDir(), "latest")
	if err := os.Symlink(dir, link); err == nil { // not all systems let
		assert.Equal(t, len(assert.Must(Read(link, hide))(t)), 1, "by a link")
	}
	assert.Complains(t, assert.Failure(Read(t.TempDir(), hide)), "no summary.json of a sweep in it or below it")
}

func TestLabels(t *testing.T) {
	for key, want := range map[string]string{
		"p99_e2el_ms": "p99 E2EL (ms)", "median_ttft_ms": "median TTFT (ms)",
		"output_throughput": "output throughput (tokens/s)",
		"mine_ms":           "mine_ms", "max_num_seqs": "max_num_seqs",
	} {
		assert.Equal(t, label(key), want, "%s", key)
	}
}

// A filter holds for a number exactly if it is so compared in Go, whatever the text around it.
func FuzzFilters(f *testing.F) {
	f.Add("max_concurrency<=64,backend==vllm")
	f.Add("a=='x',b!=\"y\",c>=1e3")
	f.Add("==,<,a%5,\x00")
	f.Fuzz(func(t *testing.T, list string) {
		records := recordsOf(t, mixed)
		filters, err := ParseFilters(list)
		if err != nil {
			return
		}
		for _, x := range filters {
			kept, err := x.apply(records)
			if err != nil || x.operator != "!=" {
				continue
			}
			others, _ := Filter{x.Key, "==", x.target}.apply(records)
			if len(kept)+len(others) != len(records) {
				t.Errorf("%v keeps %d of %d, its opposite %d", x, len(kept), len(records), len(others))
			}
		}
		_, _ = ParseBins(list)
	})
}

// Any records can be drawn by their fields.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(mixed))
	f.Add([]byte(runsOfTwo))
	f.Add([]byte(`[{"a": -Infinity, "b": "\"NaN"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := parse(data)
		if err != nil || len(records) == 0 || len(records[0].Keys) == 0 {
			return
		}
		key := records[0].Keys[0]
		figures, err := Figures(records, Options{X: key, Y: key, CurveBy: []string{key}})
		if err == nil && len(figures) != 1 {
			t.Errorf("%d figures", len(figures))
		}
	})
}
