package export

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// Other programs read results and journals by these keys.
func TestFrozenKeys(t *testing.T) {
	results, records := map[string]bool{}, map[string]bool{}
	collect := func(r metrics.Report) {
		paths(t, results, "", []byte(written(t, JSON, r)))
		paths(t, records, "",
			[]byte(written(t, func(w io.Writer, r metrics.Report) error { return PyTorch(w, r, nil) }, r)))
	}
	everything := reportOfEverything()
	collect(everything)
	everything.Plan.Stages[0].Unit = metrics.RequestsPerSecond
	everything.Diffusion, everything.Plan.Find = nil, nil
	collect(everything)
	everything.Compared[0].By = metrics.AxisEngine
	collect(everything)
	everything.Plan.Pooling = true
	collect(everything)

	lines := journalOfEverything(t)
	runs, err := filepath.Glob("../internal/cli/testdata/runs/v*/*.jsonl.gz")
	if err != nil || len(runs) < 10 {
		t.Fatalf("%d journals: %v", len(runs), err)
	}
	for _, path := range runs {
		r := assert.Must(report.Of(journal.Read(path)))(t)
		collect(r)
		f := assert.Must(os.Open(path))(t)
		plain := assert.Must(gzip.NewReader(f))(t)
		linePaths(t, lines, plain)
		f.Close()
	}
	frozen(t, "result_keys.txt", results)
	frozen(t, "pytorch_keys.txt", records)
	frozen(t, "journal_keys.txt", lines)
}

// frozen compares with a list under testdata, one a line.
func frozen(t *testing.T, name string, got map[string]bool) {
	t.Helper()
	path := filepath.Join("testdata", "frozen", name)
	data := assert.Must(os.ReadFile(path))(t)
	want := strings.Fields(string(data))
	if !slices.IsSorted(want) {
		t.Errorf("%s is not sorted", path)
	}
	for _, key := range want {
		if !got[key] {
			t.Errorf("%s is gone or has another name, but it is frozen: others read it. See %s", key, path)
		}
		delete(got, key)
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		t.Errorf("%s is new: add it to %s, in its order", key, path)
	}
}

// reportOfEverything has a value for every field, so that no key is left out.
func reportOfEverything() (r metrics.Report) {
	setAll(reflect.ValueOf(&r).Elem())
	r.Answer.Before, r.Answer.After, r.Answer.Shown, r.Answer.ProvenLevel = 0, 0, 0, 0
	r.Plan.Metrics, r.Plan.Pooling, r.Plan.Whole = nil, false, false
	for l := range metrics.Latencies() {
		if l.Key() != "" { // others cannot be requested
			r.Plan.Metrics = append(r.Plan.Metrics, l)
		}
	}
	r.Plan.Metadata, r.Plan.Definitions = nil, nil
	r.Timeline[0].Start, r.Plan.Part.N = 0, 2
	r.Server.Seconds[0].At, r.GPUs.Seconds[0].At = time.Second, time.Second
	for _, sources := range []map[metrics.TokenSource]int{r.InputSources, r.OutputSources} {
		clear(sources)
		for _, s := range []metrics.TokenSource{metrics.TokensFromChunks, metrics.TokensFromEstimate,
			metrics.TokensFromServer,
			metrics.TokensFromTokenizer, metrics.TokensFromUsage, metrics.TokensUnknown} {
			sources[s] = 1
		}
	}
	return r
}

// journalOfEverything are the keys of a journal with a line of each kind.
func journalOfEverything(t *testing.T) map[string]bool {
	t.Helper()
	var plan metrics.Plan
	setAll(reflect.ValueOf(&plan).Elem())
	plan.Definitions = nil
	w := assert.Must(journal.NewWriter(nil, plan))(t)
	defer w.Close()
	var q metrics.Request
	setAll(reflect.ValueOf(&q).Elem())
	q.Chunks = []metrics.Chunk{{At: 1, Tokens: 2}}
	w.Take(&event.Event{Kind: event.Done, Request: &q})
	for _, fact := range []any{
		&metrics.Recount{}, &metrics.AnswerCheck{}, &metrics.LogEntry{}, &metrics.Steering{}, &metrics.Phase{},
		&metrics.Source{}, &metrics.Saving{},
		&metrics.ClientSecond{}, &metrics.Worker{}, &metrics.ServerSecond{}, &metrics.GPUSecond{}, &metrics.End{},
	} {
		v := reflect.ValueOf(fact).Elem()
		setAll(v)
		w.Take(&event.Event{Kind: event.Fact, At: time.Second, Value: v.Interface()})
	}
	var b bytes.Buffer
	assert.Must(w.WriteTo(&b))(t)
	out := map[string]bool{}
	linePaths(t, out, &b)

	first, _, _ := strings.Cut(b.String(), "\n")
	// an unknown kind is answered with the known ones
	for e := range journal.From(strings.NewReader(first+"\n{}\n"), "") {
		if damage, ok := e.Value.(event.Damage); ok {
			_, kinds, _ := strings.Cut(damage.Err.Error(), "one of: ")
			for _, kind := range strings.Split(kinds, ", ") {
				if !out[kind] {
					t.Errorf("a line of %q is missing here", kind)
				}
			}
		}
	}
	return out
}

// setAll sets all fields to values that are written.
func setAll(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(5 * time.Second))
	case v.Type() == reflect.TypeFor[metrics.Unit]():
		v.Set(reflect.ValueOf(metrics.Users))
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
	case v.Type() == reflect.TypeFor[metrics.Statistic]():
		percentile := []metrics.Percentile{{P: 99, Value: 1}}
		v.Set(reflect.ValueOf(metrics.Statistic{N: 1, Percentiles: percentile, Shown: percentile}))
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(1.5)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.String:
		v.SetString("x")
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setAll(v.Index(0))
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			setAll(v.Index(i))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				setAll(v.Field(i))
			}
		}
	}
}

// linePaths adds the paths of the keys of a journal's lines. A request's line has no name, so its keys get the prefix
// "request".
func linePaths(t *testing.T, out map[string]bool, journal io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(journal)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		prefix := ""
		if bytes.HasPrefix(lines.Bytes(), []byte(`{"index":`)) {
			prefix = "request"
		}
		if json.Valid(lines.Bytes()) { // the journal of a killed run the file is truncated of a line
			paths(t, out, prefix, lines.Bytes())
		}
	}
	assert.Fine(t, lines.Err())
}

// paths adds the paths of all keys in a JSON value.
func paths(t *testing.T, out map[string]bool, prefix string, text []byte) {
	t.Helper()
	var value any
	assert.Fine(t, json.Unmarshal(text, &value))
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				inside := strings.TrimPrefix(path+"."+key, ".")
				out[inside] = true
				walk(inside, inner)
			}
		case []any:
			for _, inner := range v {
				walk(path+"[]", inner)
			}
		}
	}
	walk(prefix, value)
}
