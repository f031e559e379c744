package datasets

import (
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/hf/numpy"
)

// fileReader is a data set that reads a file, with content to try it on.
type fileReader struct {
	name string // of the data set, as its errors have it
	file string // the name of the file
	open func(t *testing.T, path string) (Flow, error)

	good  string // content to be accepted, of several lines
	cut   fault  // content that ends too early; none where the format cannot tell
	mixed fault  // content of which one line is of another kind
}

// fault is content to be refused and what is said about it.
type fault struct{ content, want string }

// fileReaders are all data sets that read files. A new one adds itself here.
func fileReaders() []fileReader {
	text := Text{Counter: byBytes{}, Template: roleTags{}}
	bench := strings.Repeat(`{"category": "a", "turns": ["one"], "messages": [{"content": "one"}]}`+"\n", 3)
	image := strings.Repeat(`{"prompt": "one", "image_files": ["x.png"]}`+"\n", 3)
	custom := strings.Repeat(`{"prompt": "one"}`+"\n", 3)
	questions := strings.Repeat(bfclGood+"\n", 3)
	table := burstHeader + strings.Repeat("0,GPT-4,7,5\n", 3)
	requests := strings.Repeat(`{"timestamp": 0, "input_length": 8, "output_length": 5, "hash_ids": [7]}`+"\n", 3)
	pair := `{"conversations":[{"value":"question"},{"value":"answer"}]}`
	cutLine := "line 4: the file ends before its last object does"
	mixedLine := "line 4: expected one object on each line: got a number"
	return []fileReader{
		{"sharegpt", "f.json", func(t *testing.T, path string) (Flow, error) {
			return NewShareGPT(t.Context(), ShareGPTOptions{Common: Common{Path: path, Prompts: 3}}, text, numpy.NewStreams(0))
		}, "[\n" + pair + ",\n" + pair + ",\n" + pair + "\n]\n",
			fault{"[\n" + pair + ",\n" + pair + ",\n{", "line 4: the file ends before its array does"},
			fault{"[\n" + pair + ",\n" + pair + ",\n7]", "line 4: expected an array of objects"}},
		{"custom", "f.jsonl", func(t *testing.T, path string) (Flow, error) {
			return NewCustom(t.Context(), CustomOptions{Common: Common{Path: path}, OutputLen: 1}, text, numpy.NewStreams(0))
		}, custom, fault{custom + `{"pro`, cutLine}, fault{custom + "7\n", mixedLine}},
		{"custom_image", "f.jsonl", func(t *testing.T, path string) (Flow, error) {
			return NewCustomImage(t.Context(), CustomImageOptions{Common: Common{Path: path}}, text, numpy.NewStreams(0))
		}, image, fault{image + `{"pro`, cutLine}, fault{image + "7\n", mixedLine}},
		{"spec_bench", "f.jsonl", func(t *testing.T, path string) (Flow, error) {
			return NewSpecBench(t.Context(), SpecBenchOptions{Common: Common{Path: path}, OutputLen: 1}, text, numpy.NewStreams(0))
		}, bench, fault{bench + `{"tur`, cutLine}, fault{bench + "7\n", mixedLine}},
		{"speed_bench", "qualitative.jsonl", func(t *testing.T, path string) (Flow, error) {
			o := SpeedBenchOptions{Common: Common{Path: filepath.Dir(path)}, Subset: "qualitative", OutputLen: 1}
			return NewSpeedBench(t.Context(), o, text, numpy.NewStreams(0))
		}, bench, fault{bench + `{"mes`, cutLine}, fault{bench + "7\n", mixedLine}},
		{"bfcl", "BFCL_v3_simple.json", func(t *testing.T, path string) (Flow, error) {
			o := BFCLOptions{Common: Common{Path: filepath.Dir(path), Prompts: 3}, Categories: []string{"simple"}, OutputLen: 1}
			return NewBFCL(t.Context(), o, text, numpy.NewStreams(0))
		}, questions, fault{questions + `{"que`, cutLine}, fault{questions + "7\n", mixedLine}},
		{"burstgpt", "f.csv", func(t *testing.T, path string) (Flow, error) {
			return NewBurstGPT(BurstGPTOptions{Common: Common{Path: path, Prompts: 3}}, nil)
		}, table, fault{table + `"0,GPT`, "line 5: not CSV"}, fault{table + "0,GPT-4,7,x\n", "line 5: column Response tokens"}},
		{"timed_trace", "f.jsonl", func(t *testing.T, path string) (Flow, error) {
			o := TimedTraceDefaults()
			o.Path = path
			d, err := newTimedTrace(o, nil, numpy.NewStreams(0))
			if err != nil {
				return Flow{}, err
			}
			return d.flow(), nil
		}, requests, fault{requests + `{"tim`, cutLine}, fault{requests + "7\n", mixedLine}},
	}
}

func TestFilesAccepted(t *testing.T) {
	for _, r := range fileReaders() {
		t.Run(r.name, func(t *testing.T) {
			var want []Conversation
			for _, form := range []struct{ name, content string }{
				{"as it is", r.good},
				{"with a byte order mark", "\ufeff" + r.good},
				{"with CRLF", strings.ReplaceAll(r.good, "\n", "\r\n")},
				{"without a last line end", strings.TrimSuffix(r.good, "\n")},
				{"with numbers of Python", strings.ReplaceAll("\n"+r.good, "\n{",
					"\n"+`{"odd": [NaN, -Infinity, {"NaN": "Infinity \" NaN"}], `)[1:]},
				{"with line ends in cells", map[bool]string{false: r.good,
					true: strings.ReplaceAll(r.good, "\n", ",\"a\r\n,b\"\n")}[strings.HasSuffix(r.file, ".csv")]},
			} {
				path := filepath.Join(t.TempDir(), r.file)
				write(t, path, form.content)
				source, err := r.open(t, path)
				if err != nil {
					t.Fatalf("%s: %v", form.name, err)
				}
				got := drain(t, source)
				if want == nil {
					want = got
				}
				same(t, form.name, got, want)
				same(t, form.name+": length", source.Len, 3)
			}
		})
	}
}

func TestFilesRefused(t *testing.T) {
	for _, r := range fileReaders() {
		first, rest, _ := strings.Cut(r.good, "\n")
		faults := map[string]fault{
			"empty":                  {"", "the file is empty"},
			"blank":                  {" \n\r\n", "the file is empty"},
			"only a byte order mark": {"\ufeff", "the file is empty"},
			"cut off":                r.cut,
			"mixed":                  r.mixed,
			"not UTF-8":              {first + "\n\xff" + rest, "line 2: the text is not UTF-8"},
			"UTF-16":                 {"\xff\xfe{\x00", "the text is UTF-16"},
			"gzip":                   {"\x1f\x8b\x08\x00rest", "this is a gzip archive"},
			"zip":                    {"PK\x03\x04rest", "this is a zip archive"},
			"zstd":                   {"\x28\xb5\x2f\xfdrest", "this is a zstd archive"},
		}
		for name, fault := range faults {
			if fault.want == "" {
				continue // the format cannot tell
			}
			t.Run(r.name+" "+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), r.file)
				write(t, path, fault.content)
				_, err := r.open(t, path)
				complains(t, err, "dataset "+r.name+": "+path, fault.want)
			})
		}
		t.Run(r.name+" is a directory", func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, r.file)
			mkdir(t, path)
			_, err := r.open(t, path)
			complains(t, err, "dataset "+r.name+": "+path, "this is a directory")
		})
		t.Run(r.name+" is missing", func(t *testing.T) {
			dir := t.TempDir()
			_, err := r.open(t, filepath.Join(dir, r.file))
			complains(t, err, "dataset "+r.name+": "+dir)
		})
	}
}
