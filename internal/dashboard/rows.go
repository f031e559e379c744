package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/jsonscan"
	"benchtop/internal/text"
)

// Table is the name of the file that has the rows of a folder.
const Table = "benchmark_results.json"

// CommandsSuffix is the end of the name of a file of Commands.
const CommandsSuffix = ".commands"

// column is a column of the table: a key of a result with what its commands say, and its title.
type column struct{ key, title string }

// The columns of each kind, in their order.
var columns = map[Kind][]column{
	Latency: {{"test_name", "Test name"}, {"gpu_type", "GPU"}, {"avg_latency", "Mean latency (ms)"},
		{"P50", "Median latency (ms)"}, {"P99", "P99 latency (ms)"}},
	Throughput: {{"test_name", "Test name"}, {"gpu_type", "GPU"}, {"num_requests", "# of req."},
		{"total_num_tokens", "Total # of tokens"},
		{"elapsed_time", "Elapsed time (s)"}, {"requests_per_second", "Tput (req/s)"},
		{"tokens_per_second", "Tput (tok/s)"}},
	Serving: {{"test_name", "Test name"}, {"model_id", "Model"}, {"dataset_name", "Dataset Name"},
		{"input_len", "Input Len"}, {"output_len", "Output Len"},
		{"tp_size", "TP Size"}, {"pp_size", "PP Size"}, {"dtype", "dtype"}, {"gpu_type", "GPU"},
		{"completed", "# of req."}, {"qps", "qps"},
		{"max_concurrency", "# of max concurrency."}, {"request_throughput", "Tput (req/s)"},
		{"total_token_throughput", "Total Token Tput (tok/s)"},
		{"output_throughput", "Output Tput (tok/s)"},
		{"mean_ttft_ms", "Mean TTFT (ms)"}, {"median_ttft_ms", "Median TTFT (ms)"}, {"p99_ttft_ms", "P99 TTFT (ms)"},
		{"std_ttft_ms", "STD TTFT (ms)"},
		{"mean_tpot_ms", "Mean TPOT (ms)"}, {"median_tpot_ms", "Median"}, {"p99_tpot_ms", "P99"},
		{"std_tpot_ms", "STD TPOT (ms)"},
		{"mean_itl_ms", "Mean ITL (ms)"}, {"median_itl_ms", "Median ITL (ms)"}, {"p99_itl_ms", "P99 ITL (ms)"}},
}

// Columns are the titles of a kind's columns, in their order.
func Columns(k Kind) (titles []string) {
	for _, c := range columns[k] {
		titles = append(titles, c.title)
	}
	return titles
}

// KindOf is the kind of a row, by its columns.
func KindOf(r Row) Kind {
	switch {
	case r["Mean latency (ms)"] != nil:
		return Latency
	case r["Elapsed time (s)"] != nil:
		return Throughput
	}
	return Serving
}

// mostFiles bounds the files of a folder.
const mostFiles = 50000

// File is a file that was read: the rows of its table, or of its results.
type File struct {
	Path string
	files.Content
	Rows []Row
}

// Read reads the rows of a table, of a result with its commands, or of a folder: of its table, or else of all results
// in it. Notes name the files of a folder that are no results, and the results that a journal tells. A result without
// commands tells what it can itself.
func Read(path string) (rows []Row, notes []string, err error) {
	table := filepath.Join(path, Table)
	if info, err := os.Stat(path); err == nil && info.IsDir() && exists(table) {
		path = table
	}
	notes, err = Each(path, func(f *File) { rows = append(rows, f.Rows...) })
	return rows, notes, err
}

// Each reads a file, or those of a folder one after the other, each once; notes are those of [Read].
func Each(path string, take func(*File)) (notes []string, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() { // its journal may be there where it is not
		f, err := readFile(path)
		if err == nil {
			take(&f)
		}
		return f.notes(), err
	}
	found, left, err := Results(path)
	if left != "" {
		notes = append(notes, left)
	}
	any := false
	for _, name := range found {
		f, err := readFile(name)
		if any = any || len(f.Rows) > 0; err != nil || len(f.Rows) == 0 {
			f.Note = fmt.Sprintf("%s: not a benchmark result", name)
		}
		notes = append(notes, f.notes()...)
		take(&f)
	}
	if err == nil && !any {
		err = fmt.Errorf("%s has no %s and no results", path, Table)
	}
	return notes, err
}

func (f *File) notes() []string {
	if f.Note == "" {
		return nil
	}
	return []string{f.Note}
}

// Results are the paths of the JSON files below a folder, and of those of lines that are no journals; left is that of
// [Files].
func Results(dir string) (found []string, left string, err error) {
	return Files(dir, func(name string, entry fs.DirEntry) bool {
		return filepath.Ext(name) == ".json" ||
			filepath.Ext(name) == ".jsonl" && entry.Type().IsRegular() && !files.IsJournal(name)
	})
}

// Files are the paths of the files below a folder that are wanted; left names the folders below it that cannot be read,
// "" for none.
func Files(dir string, wanted func(name string, entry fs.DirEntry) bool) (found []string, left string, err error) {
	var unread []string
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name != dir:
			below, _ := filepath.Rel(dir, name)
			unread = append(unread, text.Clean(below))
			return nil
		case err != nil || entry.IsDir() || !wanted(name, entry):
			return err
		}
		if found = append(found, name); len(found) > mostFiles {
			return fmt.Errorf("%s has more than %d files; name fewer folders", dir, mostFiles)
		}
		return nil
	})
	if len(unread) > 0 {
		left = fmt.Sprintf("%s left out: %s", text.Count(len(unread), "folder"), text.List(unread, 3))
	}
	return found, left, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readFile reads the rows of a file: those of a table, or of its results.
func readFile(path string) (f File, err error) {
	f.Path = path
	f.Content, err = files.ReadContent(path)
	for _, raw := range f.Results {
		more, err := Rows(path, raw)
		if err != nil {
			return File{Path: path}, fmt.Errorf("%s: %w", path, err)
		}
		f.Rows = append(f.Rows, more...)
	}
	return f, err
}

var errNoResult = errors.New("no result of a benchmark: expected a result of benchtop, vllm bench, SGLang's " +
	"bench_serving, GuideLLM or AIPerf, or " + Table)

// lists are members of an object that hold the rows of a table.
var lists = []string{"results", "serving_results", "benchmarks", "data"}

// Rows are the rows of an object of a file: one that holds a list of them, that is a row, or that is a result.
func Rows(path string, raw []byte) (rows []Row, err error) {
	for _, list := range jsonscan.Fields(raw, lists...) {
		if len(list) == 0 || list[0] != '[' {
			continue
		}
		for entry := range jsonscan.Elements(list) {
			more, err := Rows(path, entry)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		}
		return rows, nil
	}
	object, row := map[string]json.RawMessage{}, Row{}
	for _, m := range jsonscan.Dict(raw) {
		object[m.Name] = m.Value
		if v := scalar(m.Value); v != nil {
			row[m.Name] = v
		}
	}
	if _, err := kindOf(object); err != nil && slices.ContainsFunc(titles,
		func(title string) bool { return row[title] != nil }) {
		return []Row{row}, nil
	}
	row, err = resultRow(path, object)
	return []Row{row}, err
}

// titles are those of all columns.
var titles = slices.Concat(Columns(Serving), Columns(Throughput), Columns(Latency))

// resultRow is the row of a result with the commands beside it.
func resultRow(path string, result map[string]json.RawMessage) (Row, error) {
	kind, err := kindOf(result)
	if err != nil {
		return nil, err
	}
	values := map[string]any{"test_name": strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	for _, c := range columns[kind] {
		if v := scalar(result[c.key]); v != nil {
			values[c.key] = v
		}
	}
	if kind == Latency {
		latencyValues(values, result)
	}
	commands, err := ReadCommands(strings.TrimSuffix(path, filepath.Ext(path)) + CommandsSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		ownValues(values, result)
	case err != nil:
		return nil, err
	default:
		if err := commandValues(values, commands); err != nil {
			return nil, err
		}
	}
	row := Row{}
	for _, c := range columns[kind] {
		if v := values[c.key]; v != nil {
			row[c.title] = v
		}
	}
	return row, nil
}

// kindOf is the kind of a result, by the keys that only it has.
func kindOf(result map[string]json.RawMessage) (Kind, error) {
	switch {
	case result["avg_latency"] != nil && result["percentiles"] != nil:
		return Latency, nil
	case result["elapsed_time"] != nil && result["requests_per_second"] != nil:
		return Throughput, nil
	case result["request_throughput"] != nil && result["completed"] != nil:
		return Serving, nil
	}
	return "", errNoResult
}

// scalar is a text, a number or a truth of a result, nil for anything else.
func scalar(raw json.RawMessage) any {
	var v any
	if len(raw) == 0 || raw[0] == '[' || raw[0] == '{' || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

// latencyValues are in milliseconds.
func latencyValues(values map[string]any, result map[string]json.RawMessage) {
	if mean, ok := values["avg_latency"].(float64); ok {
		values["avg_latency"] = 1000 * mean
	}
	var percentiles map[string]float64
	if json.Unmarshal(result["percentiles"], &percentiles) != nil {
		return
	}
	for _, p := range []string{"50", "99"} {
		if v, ok := percentiles[p]; ok {
			values["P"+p] = 1000 * v
		}
	}
}

// ReadCommands reads a file of commands.
func ReadCommands(path string) (Commands, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Commands{}, err
	}
	var c Commands
	if err := json.Unmarshal(raw, &c); err != nil {
		return Commands{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// commandValues takes what the commands say: parallel sizes and the type of numbers of the server, the data set, its
// lengths and the rate of the client.
func commandValues(values map[string]any, c Commands) error {
	if c.GPU != "" {
		names := strings.Split(c.GPU, "\n")
		values["gpu_type"] = fmt.Sprintf("%dx%s", len(names), names[0])
	}
	for _, from := range []struct {
		command string
		skip    int // words before the flags
		keys    []column
	}{
		{c.Server, 2, []column{{"tp_size", parallel[0].flag}, {"pp_size", parallel[1].flag}, {"dtype", "--dtype"}}},
		{c.Client, 2, []column{{"dataset_name", "--dataset-name"}, {"input_len", "--random-input-len"},
			{"output_len", "--random-output-len"}, {"qps", "--request-rate"}}},
	} {
		words, err := argv.Split(from.command)
		if err != nil {
			return fmt.Errorf("the command %q: %w", from.command, err)
		}
		given := Flags(parallel[0].set(parallel[1].set(words[min(from.skip, len(words)):], nil), nil))
		for _, k := range from.keys {
			if v, ok := given[k.title]; ok {
				values[k.key] = v
			}
		}
	}
	return nil
}

// ownValues takes what a result without commands says of its load.
func ownValues(values map[string]any, result map[string]json.RawMessage) {
	var own struct {
		Command []string                   `json:"command"`
		Spec    map[string]json.RawMessage `json:"spec"` // with the flags of files
	}
	_ = json.Unmarshal(result["benchtop"], &own)
	given := Flags(own.Command)
	for name, raw := range own.Spec {
		if jsonscan.IsString(raw) {
			given["--"+name] = coerce(jsonscan.Text(raw))
		}
	}
	set := func(key string, v any) {
		if v != nil {
			values[key] = v
		}
	}
	set("qps", scalar(result["request_rate"]))
	set("tp_size", scalar(result["tensor_parallel_size"]))
	set("pp_size", scalar(result["pipeline_parallel_size"]))
	if len(own.Command) == 0 {
		return
	}
	set("dataset_name", "random")
	set("dataset_name", given["--dataset-name"])
	if values["dataset_name"] == "random" {
		set("input_len", 1024.0)
		set("output_len", 128.0)
	}
	for _, kind := range []string{"--random-", "--"} { // the general flag wins
		set("input_len", given[kind+"input-len"])
		set("output_len", given[kind+"output-len"])
	}
}

// Flags are those of a command line with their values, as the script that makes the table reads them: a flag without a
// value is true, "null" is absent, numbers but inf and nan are numbers. Only the first word behind a flag is its value.
func Flags(words []string) map[string]any {
	given := map[string]any{}
	for i := 0; i < len(words); i++ {
		name, value, joined := strings.Cut(words[i], "=")
		if !strings.HasPrefix(name, "--") {
			continue
		}
		switch {
		case joined:
			given[name] = coerce(value)
		case i+1 < len(words) && !strings.HasPrefix(words[i+1], "--"):
			i++
			given[name] = coerce(words[i])
		default:
			given[name] = true
		}
		if given[name] == nil {
			delete(given, name)
		}
	}
	return given
}

// coerce reads a value of a command line.
func coerce(text string) any {
	switch strings.ToLower(text) {
	case "null":
		return nil
	case "true":
		return true
	case "false":
		return false
	}
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) <= 1 && digits != "" && digits != "." && strings.Trim(digits, "0123456789.") == "" &&
		strings.Count(digits, ".") <= 1 && !strings.HasSuffix(digits, ".") {
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(v, 0) {
			return v
		}
	}
	return text
}
