package sweep

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"benchtop/export"
	"benchtop/internal/files"
	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
	"benchtop/internal/secret"
	"benchtop/metrics"
	"benchtop/metrics/grid"
)

// Record is the result of a run with the parameters that the sweep gave it: the keys of the result in their order, and
// behind them run_number and the parameters, which replace keys of the same name.
type Record struct{ Item }

// ownKey is the object with all that vLLM's results do not have.
const ownKey = "benchtop"

// Number is the value of a key, NaN for none. Infinities may be texts.
func (r Record) Number(key string) float64 { return number(r.Get(key)) }

func number(raw []byte) float64 {
	if raw == nil || raw[0] == 'n' {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(pyjson.Str(raw), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func (r Record) count(key string) int {
	if v := r.Number(key); v >= 0 && v < 1e15 {
		return int(v)
	}
	return 0
}

// readRecord reads the file of a run.
func readRecord(path string) (Record, error) {
	all, _, err := files.ReadResults(path)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%s: %d results instead of one", path, len(all))
	}
	if err != nil {
		return Record{}, err
	}
	return Record{jsonscan.Dict(all[0])}, nil
}

// of is the record of a run of a combination without its secrets, made by the commands that id stands for.
func (r Record) of(c Combination, number int, id string) Record {
	own := r.Get(ownKey)
	if own == nil || own[0] != '{' {
		own = []byte("{}")
	}
	r.Item = r.With(ownKey, string(Item(jsonscan.Dict(own)).With("sweep", string(jsonscan.Quote(id))).JSON()))
	r.Item = r.With("run_number", strconv.Itoa(number))
	for _, m := range slices.Concat(c.Server, c.Bench).Safe() {
		r.Item = r.With(m.Name, string(m.Value))
	}
	return r
}

// matches says why a record is not that of a run of a combination, "" if it is.
func (r Record) matches(c Combination, number int, id string) string {
	want := Record{}.of(c, number, id)
	for _, m := range want.Item {
		got := r.Get(m.Name)
		if m.Name == ownKey {
			if got == nil || got[0] != '{' || Item(jsonscan.Dict(got)).Get("sweep") == nil {
				return "it was not finished by a sweep"
			}
			got, m = Item(jsonscan.Dict(got)).Get("sweep"), jsonscan.Member{Name: "sweep", Value: jsonscan.Quote(id)}
		}
		if got == nil || !equal(got, m.Value) {
			return fmt.Sprintf("its %s is %s, not %s", m.Name, secret.HideValue(m.Name, got), m.Value)
		}
	}
	return ""
}

// write writes the record as vLLM does.
func (r Record) write(path string) error {
	return writeAll(path, pyjson.AppendIndented(nil, r.JSON(), 4, 0))
}

// writeSummary writes the whole records of a combination, which its directory has, as a list.
func writeSummary(dir string, numbers []int) error {
	var records []Record
	for _, n := range numbers {
		r, err := readRecord(filepath.Join(dir, runFile(n)))
		if err != nil {
			return err
		}
		records = append(records, r)
	}
	return writeRecords(filepath.Join(dir, "summary.json"), records)
}

// writeRecords writes records as a list.
func writeRecords(path string, records []Record) error {
	list := []byte{'['}
	for i, r := range records {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, r.JSON()...)
	}
	return writeAll(path, pyjson.AppendIndented(nil, append(list, ']'), 4, 0))
}

func writeAll(path string, content []byte) error {
	return files.Write(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Figures are those of the record that a grid shows.
func (r Record) Figures() grid.Figures {
	f := grid.Figures{
		Ready:      1e3 * firstKnown(r.Number("avg_warm_startup_time"), r.Number("avg_cold_startup_time")),
		FirstToken: math.NaN(),
		Completed:  r.count("completed"), Failed: r.count("failed"),
		RequestThroughput: r.Number("request_throughput"), OutputThroughput: r.Number("output_throughput"),
		TotalThroughput: r.Number("total_token_throughput"),
		MeanTTFT:        r.Number("mean_ttft_ms"), MedianTTFT: r.Number("median_ttft_ms"),
		P99TTFT:    r.Number("p99_ttft_ms"),
		MedianTPOT: r.Number("median_tpot_ms"), P99TPOT: r.Number("p99_tpot_ms"), P99ITL: r.Number("p99_itl_ms"),
		MedianE2EL: r.Number("median_e2el_ms"), P99E2EL: r.Number("p99_e2el_ms"), Goodput: r.Number("request_goodput"),
	}
	gpus, _ := r.gpus()
	f.PerUser, f.PerGPU = grid.UserSpeed(r.field), f.OutputThroughput/gpus
	return f
}

// FiguresOf are those of a report, as a record has them.
func FiguresOf(r metrics.Report) (grid.Figures, error) {
	var result bytes.Buffer
	if err := export.JSON(&result, r); err != nil {
		return grid.Figures{}, err
	}
	record := Record{jsonscan.Dict(result.Bytes())}
	f := record.Figures()
	if _, said := record.gpus(); !said { // by --metadata; a report by itself does not tell the GPUs of its server
		f.PerGPU = math.NaN()
	}
	return f, nil
}

// firstKnown is the first of two figures that is known, NaN for neither.
func firstKnown(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	return a
}

// field is the value of a key or of the record's own speed of users, and whether the record has it.
func (r Record) field(key string) (v float64, said bool) {
	raw := r.Get(key)
	if key == grid.SpeedKey {
		raw = jsonscan.Fields(jsonscan.Fields(r.Get(ownKey), key)[0], "median")[0]
	}
	return number(raw), raw != nil
}

// gpus is the number of GPUs by the parallel sizes, and whether there is one.
func (r Record) gpus() (n float64, said bool) {
	return grid.GPUs(func(key string) float64 {
		for _, m := range r.Item {
			if dashed(m.Name) == dashed(key) {
				return r.Number(m.Name)
			}
		}
		return math.NaN()
	})
}
