package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// lengths reads the fields of a line that are numbers.
func (t *traceReader) lengths(fields map[string][]byte) (line traceLine, err error) {
	if line.at, err = traceTime(fields[t.o.Labels.Timestamp], t.o.Multiplier); err != nil {
		return line, inField(t.o.Labels.Timestamp, err)
	}
	if line.input, err = traceLength(fields[t.o.Labels.InputLength], 0); err != nil {
		return line, inField(t.o.Labels.InputLength, err)
	}
	if line.output, err = traceLength(fields[t.o.Labels.OutputLength], 1); err != nil {
		return line, inField(t.o.Labels.OutputLength, err)
	}
	return line, nil
}

var errNoField = errors.New("missing")

// inField names the field that an error is about.
func inField(name string, err error) error {
	if errors.Is(err, errNoField) {
		return missingField(name)
	}
	return fmt.Errorf("field %q: %w", name, err)
}

// traceNumber reads a number, in doubles as Python multiplies them.
func traceNumber(raw []byte) (float64, error) {
	if raw == nil {
		return 0, errNoField
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if kind := jsonKind(raw); kind != "a number" {
		return 0, fmt.Errorf("expected a number: got %s", kind)
	}
	if err != nil {
		return 0, fmt.Errorf("the number is too large: got %s", firstOf(raw))
	}
	return f, nil
}

// traceTime reads a time stamp as an offset from the start of the run. It may be negative, as it may be smaller than the
// one before: such a request starts at once.
func traceTime(raw []byte, multiplier float64) (time.Duration, error) {
	f, err := traceNumber(raw)
	if err != nil {
		return 0, err
	}
	seconds := f * multiplier
	if !(math.Abs(seconds) <= maxTraceTime.Seconds()) {
		return 0, fmt.Errorf("%s is %.4g s from the start of the run, more than a year; time stamps count from the start of the run, "+
			"and milliseconds want --timed-trace-sec-multiplier 0.001", firstOf(raw), seconds)
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), nil
}

// traceLength reads a length in tokens.
func traceLength(raw []byte, least int) (int32, error) {
	f, err := traceNumber(raw)
	if err != nil {
		return 0, err
	}
	if f < float64(least) || f > maxLen || f != math.Trunc(f) {
		return 0, fmt.Errorf("expected a whole number from %d to %d: got %s", least, maxLen, firstOf(raw))
	}
	return int32(f), nil
}

// maxHashDigits is Python's own bound on integers in text.
const maxHashDigits = 4300

// hashID is a hash id as Python prints it: an integer of any size, or a string.
func hashID(raw []byte) ([]byte, error) {
	switch jsonKind(raw) {
	case "a string":
		text, err := wholeText(raw)
		return []byte(text), err
	case "a number":
		if bytes.ContainsAny(raw, ".eE") || len(raw) > maxHashDigits {
			break
		}
		if string(raw) == "-0" {
			return raw[1:], nil
		}
		return raw, nil
	}
	return nil, fmt.Errorf("expected hash ids to be integers or strings: got %s", firstOf(raw))
}

// firstOf is a JSON value, or the beginning of a long one.
func firstOf(raw []byte) string {
	const limit = 60
	if len(raw) <= limit {
		return string(raw)
	}
	end := limit
	for end > 0 && !utf8.RuneStart(raw[end]) {
		end--
	}
	return string(raw[:end]) + " …"
}
