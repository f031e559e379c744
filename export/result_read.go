package export

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/export/journal"
	"benchtop/metrics"
)

// ReadResult reads a result of vLLM or benchtop: counts, throughputs and statistics of latencies. A statistic has as many
// samples as there are successes, because the file has no sample counts; a missing one has N 0. It reads the last of several
// results, as written by --append-result. Data that only a journal has, such as the timeline, is missing from the report.
func ReadResult(path string) (metrics.Report, error) {
	f, err := journal.Open(path)
	if err != nil {
		return metrics.Report{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxResultBytes {
		return metrics.Report{}, fmt.Errorf("%s: %w", path, errResultTooLong)
	}
	r, err := readResult(f)
	if err != nil {
		return metrics.Report{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func readResult(in io.Reader) (metrics.Report, error) {
	s := jsonScanner{r: bufio.NewReaderSize(in, 1<<16), left: maxResultBytes}
	var last *resultReader
	for {
		one := &resultReader{}
		one.places = places(&one.r)
		one.r.Plan.Rate = metrics.Rate(math.Inf(1)) // if the file has no rate
		switch err := s.object(one.scalar); {
		case err == io.EOF && last == nil:
			return metrics.Report{}, errors.New("expected a result, found nothing")
		case err == io.EOF:
			return last.report()
		case one.journal:
			return metrics.Report{}, errors.New("this is a journal, not a result")
		case err != nil && last == nil:
			return metrics.Report{}, fmt.Errorf("not a result of a benchmark: %w", err)
		case err != nil:
			return metrics.Report{}, err
		}
		last = one
	}
}

// resultReader collects the values of one result.
type resultReader struct {
	r               metrics.Report
	counted, lasted bool // the keys of every result are there
	journal         bool
	places          map[string]any
	timed           [metrics.NumLatencies]bool // the latencies that are there
}

// places are the fields of a report for the keys of a result, except latencies.
func places(r *metrics.Report) map[string]any {
	p := &r.Plan
	return map[string]any{
		"backend": &p.Backend, "label": &p.Label, "model_id": &p.ModelID, "tokenizer_id": &p.Tokenizer,
		"num_prompts": &p.NumPrompts, "request_rate": (*float64)(&p.Rate), "burstiness": &p.Burstiness, "max_concurrency": &p.MaxConcurrency,
		"duration": &r.Duration, "completed": &r.Completed, "failed": &r.Failed,
		"total_input_tokens": &r.InputTokens, "total_input_sequences": &r.Inputs, "total_output_tokens": &r.OutputTokens,
		"request_throughput": &r.RequestThroughput, "input_sequence_throughput": &r.InputThroughput,
		"output_throughput": &r.OutputThroughput, "total_token_throughput": &r.TotalThroughput,
		"max_output_tokens_per_s": &r.PeakOutputPerSecond, "max_concurrent_requests": &r.PeakConcurrency, "rtfx": &r.RTFx,
	}
}

// scalar takes a value of the top level. Unknown keys and unexpected values are skipped: other versions have other keys.
func (x *resultReader) scalar(key, value string) {
	v, known := parseFigure(value)
	switch into := x.places[key].(type) {
	case *string:
		if *into = value; value == "null" { // null arrives as text
			*into = ""
		}
	case *float64:
		if known {
			*into = v
		}
	case *int:
		if known = known && v >= 0; known {
			*into = int(v)
		}
	default:
		x.latency(key, value)
	}
	switch key {
	case "benchtop_journal":
		x.journal = true
	case "date":
		x.r.Plan.Started, _ = time.ParseInLocation(dateLayout, value, time.Local)
	case "duration":
		x.lasted = known
	case "completed":
		x.counted = known
	case "total_input_sequences":
		x.r.Plan.Pooling = known
	case "request_goodput":
		if known {
			x.r.Goodput = &v
		}
	}
}

// parseFigure parses a number within the range of results.
func parseFigure(value string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(value, 64)
	return v, err == nil && finite(v) && math.Abs(v) <= metrics.LargestCount
}

// latency takes a key such as "p99.9_ttft_ms".
func (x *resultReader) latency(key, value string) {
	name, ok := strings.CutSuffix(key, "_ms")
	figure, key, _ := strings.Cut(name, "_")
	l, known := metrics.LatencyOf(key)
	v, valid := parseFigure(value)
	if !ok || !known || !valid {
		return
	}
	s := &x.r.Statistics[l]
	switch figure {
	case "mean":
		s.Mean = v
	case "median":
		s.Median, s.Shown = v, []metrics.Percentile{{P: 50, Value: v}}
	case "std":
		s.Std = v
	default:
		p, err := strconv.ParseFloat(strings.TrimPrefix(figure, "p"), 64)
		if err != nil || figure[0] != 'p' || !(p >= 0 && p <= 100) || len(s.Percentiles) == maxPercentiles {
			return
		}
		s.Percentiles = append(s.Percentiles, metrics.Percentile{P: p, Value: v})
	}
	x.timed[l] = true
}

// maxPercentiles bounds the percentiles of a latency in a file.
const maxPercentiles = 1000

// report completes the report after the last key: keys have no fixed order.
func (x *resultReader) report() (metrics.Report, error) {
	r, p := &x.r, &x.r.Plan
	if !x.counted || !x.lasted {
		return metrics.Report{}, errors.New(`not a result of a benchmark: it has no numbers "completed" and "duration"`)
	}
	r.Ended = time.Duration(min(max(r.Duration, 0), metrics.LongestRun.Seconds()) * float64(time.Second))
	for l := range metrics.Latencies() {
		if !x.timed[l] {
			continue
		}
		found := &r.Statistics[l]
		found.N = r.Completed
		slices.SortStableFunc(found.Percentiles, func(a, b metrics.Percentile) int { return cmp.Compare(a.P, b.P) })
		p.Metrics = append(p.Metrics, l)
		for _, q := range found.Percentiles {
			if !slices.Contains(p.Percentiles, q.P) {
				p.Percentiles = append(p.Percentiles, q.P)
			}
		}
	}
	slices.Sort(p.Percentiles)
	return *r, nil
}

const (
	// maxResultBytes bounds the time to read a file. Details of a million requests stay below it.
	maxResultBytes = 1 << 30
	// maxScalarBytes bounds a key and a value.
	maxScalarBytes = 64 << 10
	// maxWordBytes bounds a number or a name such as null.
	maxWordBytes = 400
)

var errResultTooLong = fmt.Errorf("more than %d MiB, too large for a result; save it without --save-detailed", maxResultBytes>>20)

// jsonScanner reads the top level of JSON objects. It skips nested objects and lists without keeping them, so that a result
// with millions of figures takes no memory.
type jsonScanner struct {
	r    *bufio.Reader
	left int64
	buf  []byte
	err  error // the first error; nothing is read after it
}

// next reads one byte, 0 after an error.
func (s *jsonScanner) next() (c byte) {
	switch {
	case s.err != nil:
	case s.left == 0:
		s.err = errResultTooLong
	default:
		s.left--
		c, s.err = s.r.ReadByte()
	}
	return c
}

func (s *jsonScanner) fail(expected string) {
	if s.err == nil {
		s.err = errors.New("expected " + expected)
	}
}

// skipSpace skips white space and returns the byte after it.
func (s *jsonScanner) skipSpace() byte {
	for {
		if c := s.next(); s.err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
}

// expect skips white space and reads one of the wanted bytes.
func (s *jsonScanner) expect(wanted, words string) byte {
	c := s.skipSpace()
	if strings.IndexByte(wanted, c) < 0 {
		s.fail(words)
	}
	return c
}

// object reads one object. It calls scalar for each key whose value is neither an object nor a list: a text is decoded, any
// other value is passed as written. The error is io.EOF at the end of the file.
func (s *jsonScanner) object(scalar func(key, value string)) error {
	if s.expect("{", "a JSON object"); s.err != nil {
		return s.err
	}
	for c := s.expect(`"}`, "a key"); s.err == nil && c == '"'; {
		s.pair(scalar)
		if c = s.expect(",}", `"," or "}"`); c == ',' {
			c = s.expect(`"`, "a key")
		}
	}
	if s.err == io.EOF {
		return errors.New("the file is truncated, or still being written")
	}
	return s.err
}

// pair reads a key, after its opening quote, and its value.
func (s *jsonScanner) pair(scalar func(key, value string)) {
	key, value := s.text(), ""
	s.expect(":", `":"`)
	switch c := s.skipSpace(); c {
	case '{', '[':
		s.skip()
		return
	case '"':
		value = s.text()
	default:
		value = s.word(c)
	}
	if s.err == nil {
		scalar(key, value)
	}
}

// text reads a string after its opening quote. A string above maxScalarBytes becomes "".
func (s *jsonScanner) text() (text string) {
	s.buf = append(s.buf[:0], '"')
	for escaped := false; s.err == nil; {
		c := s.next()
		if len(s.buf) <= maxScalarBytes {
			s.buf = append(s.buf, c)
		}
		if c == '"' && !escaped {
			break
		}
		escaped = c == '\\' && !escaped
	}
	if s.err != nil || len(s.buf) > maxScalarBytes {
		return ""
	}
	if err := json.Unmarshal(s.buf, &text); err != nil {
		s.fail("a string: " + cut(Clean(err.Error()), 80))
	}
	return text
}

// word reads a number or a name such as null, NaN or Infinity.
func (s *jsonScanner) word(c byte) string {
	s.buf = s.buf[:0]
	for len(s.buf) <= maxWordBytes && (strings.IndexByte("+-.0123456789", c) >= 0 || c|0x20 >= 'a' && c|0x20 <= 'z') {
		s.buf = append(s.buf, c)
		c = s.next()
	}
	if n := len(s.buf); n == 0 || n > maxWordBytes {
		s.fail("a value")
	}
	if s.err == nil {
		s.left++
		s.err = s.r.UnreadByte()
	}
	return string(s.buf)
}

// skip skips an object or a list after its opening bracket.
func (s *jsonScanner) skip() {
	depth, inText, escaped := 1, false, false
	for depth > 0 && s.err == nil {
		c := s.next()
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = c == '\\', c != '"'
		case c == '"':
			inText = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
}
