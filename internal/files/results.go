package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"benchtop/export"
	"benchtop/internal/jsonscan"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/metrics/report"
)

// maxResultBytes bounds a file of results, which is read whole. The details of a million requests stay below it.
const maxResultBytes = 1 << 30

// journalHead begins a journal.
const journalHead = `{"benchtop_journal":`

var (
	errJournal = errors.New("a journal")
	errTooLong = fmt.Errorf("more than %d MiB, too large for results; save them without --save-detailed",
		maxResultBytes>>20)
)

// Content is what a file of results holds.
type Content struct {
	// Results are JSON objects with the keys of vLLM's.
	Results [][]byte
	// Report is that of the journal that told the one result; nil where the file has results itself.
	Report *metrics.Report
	// Note says why a journal told it, "" for none.
	Note string
}

// ReadResults are the results of [ReadContent], and its note.
func ReadResults(path string) (all [][]byte, note string, err error) {
	c, err := ReadContent(path)
	return c.Results, c.Note, err
}

// ReadContent reads the results of a file of benchtop, vLLM or the benchmarks of [export.Foreign] in order: one,
// several of --append-result, or the elements of a list, as a sweep's summary is; an empty list has none. Python's NaN
// and Infinity are the texts that results have for them elsewhere. A file without a whole result whose journal lies
// beside it, as a killed run leaves it, and a journal itself, give the result that the journal tells. Errors name the
// file, and the line.
func ReadContent(path string) (c Content, err error) {
	from := path
	switch c.Results, err = ReadObjects(path); {
	case err == nil:
		return c, nil
	case errors.Is(err, errJournal):
	case errors.Is(err, errDirectory), errors.Is(err, errTooLong), strings.HasSuffix(path, SoFar+".json"):
		return c, err
	default:
		if found, missing := findJournal(path); missing == nil && found != path {
			from = found
			break
		}
		return c, err
	}
	r, damaged := report.From(readJournal(from))
	if damaged != nil && r.Plan.Started.IsZero() {
		return c, damaged
	}
	if w := r.Plan.Command; len(w) > 0 && (w[0] == "latency" || w[0] == "throughput") {
		return c, fmt.Errorf("%s: the journal of benchtop %s, whose result cannot be made of it; benchtop report "+
			"reads it", usage.Quote(from), w[0])
	}
	var result bytes.Buffer
	if err := export.JSON(&result, r); err != nil {
		return c, err
	}
	c = Content{Results: [][]byte{result.Bytes()}, Report: &r}
	if from != path {
		c.Note = fmt.Sprintf("%s has no whole result; its figures are those of %s", path, from)
	}
	if r.Interrupted != nil && r.Interrupted.Reason != "" {
		c.Note = strings.TrimPrefix(c.Note+"; ", "; ") + fmt.Sprintf("the run of %s is not whole: %s", from,
			r.Interrupted.Reason)
	}
	return c, nil
}

// ReadObjects are the results of [ReadContent] without what journals tell.
func ReadObjects(path string) ([][]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s %w", path, errDirectory)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path) // a pipe would be waited for
	}
	if IsJournal(path) {
		return nil, errJournal
	}
	if info.Size() > maxResultBytes {
		return nil, fmt.Errorf("%s: %w", path, errTooLong)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all, err := ParseResults(data)
	if err != nil {
		err = fmt.Errorf("%s, %w", path, err)
	}
	return all, err
}

// IsJournal reports whether a regular file is a journal, by its first bytes or as a compressed file.
func IsJournal(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(journalHead))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == journalHead || strings.HasSuffix(path, ".gz")
}

// ParseResults are the objects of a text, as ReadResults has those of a file; an empty list has none. Its errors begin
// with the line or the entry.
func ParseResults(data []byte) (all [][]byte, err error) {
	any := false
	data = jsonscan.QuotedNumbers(bytes.TrimPrefix(data, []byte("\ufeff")))
	for values := json.NewDecoder(bytes.NewReader(data)); ; {
		var value json.RawMessage
		switch err := values.Decode(&value); {
		case err == io.EOF && !any:
			return nil, errors.New("line 1: the file is empty")
		case err == io.EOF:
			return all, nil
		case err != nil:
			at := len(data)
			if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
				at = int(min(syntax.Offset, int64(at)))
			} else {
				err = errors.New("the file is truncated, or still being written")
			}
			return nil, fmt.Errorf("line %d: %w", 1+bytes.Count(data[:at], []byte("\n")), err)
		}
		any = true
		one := func(yield func([]byte) bool) { yield(value) }
		if value[0] == '[' {
			one = jsonscan.Elements(value)
		}
		for object := range one {
			if object[0] != '{' {
				return nil, fmt.Errorf("entry %d: expected an object, got %s", len(all)+1, jsonscan.Kind(object))
			}
			if translated := export.Foreign(object); translated != nil {
				all = append(all, translated...)
				continue
			}
			all = append(all, object)
		}
	}
}
