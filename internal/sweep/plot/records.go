// Package plot turns the records of sweeps into figures: which runs share a figure, a panel, a curve and a point, by
// the rules of vLLM's sweep plots. It draws nothing.
//
//	summary.json ──> records ──fig-by──> figures ──filters, bins──> panels ──> curves
//	                         ──> points: the mean of the runs at one x
package plot

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/files"
	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
	"benchtop/internal/usage"
	"benchtop/metrics/grid"
)

// Record is one run of a sweep: its fields by name.
type Record struct {
	// Path is its file, Entry its place there from 1.
	Path  string
	Entry int
	// Keys are the names of the fields that are no lists or objects, in order.
	Keys   []string
	fields map[string]value
}

// value is a field. Its text is what Python's str makes of it, which groups are compared by.
type value struct {
	kind   kind
	text   string
	number float64 // of a number, or of a truth value
}

type kind uint8

const (
	null kind = iota
	number
	truth
	words
	other // lists and objects
)

// numeric is the value as a number, NaN for nothing; ok is false for a text.
func (v value) numeric() (n float64, ok bool) {
	switch v.kind {
	case number, truth:
		return v.number, true
	case null:
		return math.NaN(), true
	}
	return 0, false
}

// Read reads the records of all files summary.json in a directory and below it, in the order of their paths. Texts pass
// through hide, which takes secrets out of them by the names of their fields. Errors name the file and the line.
func Read(directory string, hide func(key, text string) string) (records []Record, err error) {
	// The separator leads into the directory that a link names.
	err = filepath.WalkDir(directory+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() != "summary.json" || d.IsDir() {
			return nil
		}
		more, err := readSummary(path, hide)
		records = append(records, more...)
		return err
	})
	if err == nil && len(records) == 0 {
		err = fmt.Errorf("%s: no summary.json of a sweep in it or below it; give the directory that 'benchtop sweep "+
			"serve' or 'vllm bench sweep serve' wrote", directory)
	}
	return records, err
}

func readSummary(path string, hide func(key, text string) string) (records []Record, err error) {
	all, _, err := files.ReadResults(path)
	for i, raw := range all {
		r := newRecord(raw, i+1)
		r.Path = path
		for key, v := range r.fields {
			if v.kind == words || v.kind == other {
				v.text = hide(key, v.text)
				r.fields[key] = v
			}
		}
		records = append(records, r)
	}
	return records, err
}

func newRecord(raw []byte, entry int) Record {
	r := Record{Entry: entry, fields: map[string]value{}}
	for quoted, raw := range jsonscan.Members(raw) {
		key := jsonscan.Text(quoted)
		v := newValue(raw)
		if _, twice := r.fields[key]; !twice && v.kind != other {
			r.Keys = append(r.Keys, key)
		}
		r.fields[key] = v
		if speed := jsonscan.Fields(jsonscan.Fields(raw, grid.SpeedKey)[0], "median")[0]; key == "benchtop" &&
			speed != nil {
			r.Keys = append(r.Keys, grid.SpeedKey)
			r.fields[grid.SpeedKey] = newValue(speed)
		}
	}
	return r
}

func newValue(raw []byte) value {
	switch raw[0] {
	case '[', '{':
		const most = 200 // more is data of requests, by which nothing is grouped
		if len(raw) > most {
			return value{kind: other, text: "…"}
		}
		return value{kind: other, text: pyjson.Str(raw)}
	case '"':
		s := jsonscan.Text(raw)
		switch s {
		case "inf", "-inf", "nan":
			n, _ := strconv.ParseFloat(s, 64)
			return value{number, s, n}
		}
		return value{words, s, 0}
	case 't':
		return value{truth, "True", 1}
	case 'f':
		return value{truth, "False", 0}
	case 'n':
		return value{null, "None", 0}
	}
	n, _ := strconv.ParseFloat(string(raw), 64) // beyond the range it is infinite, as in Python
	return value{number, pyjson.Str(raw), n}
}

// place names a record for an error.
func (r *Record) place() string { return fmt.Sprintf("%s, entry %d", r.Path, r.Entry) }

// keysOf are the names of the fields of all records, in order of first appearance.
func keysOf(records []Record) (keys []string) {
	seen := map[string]bool{}
	for i := range records {
		for _, k := range records[i].Keys {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// CheckKeys is an error for every key that no record has. It lists the fields that there are.
func CheckKeys(records []Record, flag string, keys ...string) error {
	var problems usage.Problems
	all := keysOf(records)
	for _, key := range keys {
		has := slices.ContainsFunc(records, func(r Record) bool { _, ok := r.fields[key]; return ok })
		problems.BadIf(!has, "--%s: no record has the field %s%s; there are %s", flag, usage.Quote(key),
			usage.DidYouMean(key, all), strings.Join(all, ", "))
	}
	return errors.Join(problems...)
}
