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

	good  string // content to be accepted, of several lines
	cut   fault  // content that ends too early
	mixed fault  // content of which one line is of another kind
}

// fault is content to be refused and what is said about it.
type fault struct{ content, want string }

// open opens the data set of the file at a path.
func (r fileReader) open(t *testing.T, path string) (Flow, error) {
	t.Helper()
	c := Common{Path: path, Prompts: 3, Forms: AsText | AsTokenIDs}
	tools := testTools{toyTools{notes: new([]string)}, Text{Counter: byBytes{}, Template: roleTags{}},
		numpy.NewStreams(0)}
	switch r.name {
	case "bfcl":
		c.Path = filepath.Dir(path)
		return opened(t, "hf", c, given{"hf-name": BFCLRepository, "bfcl-categories": "simple"}, tools)
	case "timed_trace":
		c.Prompts = 4 // reads no further
	case "speed_bench":
		c.Path = filepath.Dir(path)
	}
	return opened(t, r.name, c, nil, tools)
}

// fileReaders are all data sets that read files. A new one adds itself here.
func fileReaders() []fileReader {
	bench := strings.Repeat(`{"category": "a", "turns": ["one"], "messages": [{"content": "one"}]}`+"\n", 3)
	image := strings.Repeat(`{"prompt": "one", "image_files": ["x.png"]}`+"\n", 3)
	custom := strings.Repeat(`{"prompt": "one"}`+"\n", 3)
	questions := strings.Repeat(bfclGood+"\n", 3)
	table := burstHeader + strings.Repeat("0,GPT-4,7,5\n", 3)
	requests := strings.Repeat(`{"timestamp": 0, "input_length": 8, "output_length": 5, "hash_ids": [7]}`+"\n", 3)
	pair := `{"conversations":[{"value":"question"},{"value":"answer"}]}`
	const cutLine, mixedLine = "line 4: the file ends before its last object does",
		"line 4: expected one object on each line: got a number"
	return []fileReader{
		{"sharegpt", "f.json", "[\n" + pair + ",\n" + pair + ",\n" + pair + "\n]\n",
			fault{"[\n" + pair + ",\n" + pair + ",\n{", "line 4: the file ends before its array does"},
			fault{"[\n" + pair + ",\n" + pair + ",\n7]", "line 4: expected an array of objects"}},
		{"custom", "f.jsonl", custom, fault{custom + `{"pro`, cutLine}, fault{custom + "7\n", mixedLine}},
		{"custom_image", "f.jsonl", image, fault{image + `{"pro`, cutLine}, fault{image + "7\n", mixedLine}},
		{"spec_bench", "f.jsonl", bench, fault{bench + `{"tur`, cutLine}, fault{bench + "7\n", mixedLine}},
		{"speed_bench", "qualitative.jsonl", bench, fault{bench + `{"mes`, cutLine}, fault{bench + "7\n", mixedLine}},
		{"bfcl", "BFCL_v3_simple.json", questions, fault{questions + `{"que`, cutLine},
			fault{questions + "7\n", mixedLine}},
		{"burstgpt", "f.csv", table, fault{table + `"0,GPT`, "line 5: not CSV"},
			fault{table + "0,GPT-4,7,x\n", "line 5: column Response tokens"}},
		{"timed_trace", "f.jsonl", requests, fault{requests + `{"tim`, cutLine}, fault{requests + "7\n", mixedLine}},
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
			t.Run(r.name+" "+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), r.file)
				write(t, path, fault.content)
				complains(t, failure(r.open(t, path)), "dataset "+r.name+": "+path, fault.want)
			})
		}
		t.Run(r.name+" is a directory", func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, r.file)
			mkdir(t, path)
			complains(t, failure(r.open(t, path)), "dataset "+r.name+": "+path, "this is a directory")
		})
		t.Run(r.name+" is missing", func(t *testing.T) {
			dir := t.TempDir()
			complains(t, failure(r.open(t, filepath.Join(dir, r.file))), "dataset "+r.name+": "+dir)
		})
	}
}
