package imports

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"benchtop/datasets/agents"
	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// absent reports whether there is no value.
func absent(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

// tokens reads a number of tokens, which may stand in a string.
func tokens(raw []byte) (int, error) {
	text := string(raw[:min(len(raw), 40)])
	if jsonscan.IsString(raw) {
		text = jsonscan.Text(raw[:min(len(raw), 40)])
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n > agents.MaxTokens || n != math.Trunc(n) {
		return 0, fmt.Errorf("expected a whole number from 0 to %d: got %s", agents.MaxTokens, textfile.Value(raw))
	}
	return int(n), nil
}

// duration reads a time of some unit, at least 0.
func duration(raw []byte, unit time.Duration) (time.Duration, error) {
	f, err := strconv.ParseFloat(string(raw[:min(len(raw), 40)]), 64)
	if err != nil || !(f >= 0 && f*float64(unit) <= float64(agents.Longest)) {
		return 0, fmt.Errorf("expected a time from 0 to a year: got %s", textfile.Value(raw))
	}
	return time.Duration(math.Round(f * float64(unit))), nil
}

// name reads a string, "" where there is none.
func name(raw []byte) (string, error) {
	if absent(raw) {
		return "", nil
	}
	s, err := jsonscan.WholeText(raw)
	if errors.As(err, new(jsonscan.HalfCharacter)) {
		err = nil // a name says enough without it
	}
	return s, err
}

// reader reads values of an object, and keeps the first error, with the key that it is about.
type reader struct{ err error }

func (r *reader) fail(key string, err error) {
	if r.err == nil && err != nil {
		r.err = inKey(key, err)
	}
}

func read[T any](r *reader, key string, raw []byte, parse func([]byte) (T, error)) T {
	value, err := parse(raw)
	r.fail(key, err)
	return value
}

func (r *reader) name(key string, raw []byte) string { return read(r, key, raw, name) }

func (r *reader) tokens(key string, raw []byte) int { return read(r, key, raw, tokens) }

func (r *reader) duration(key string, raw []byte, unit time.Duration) time.Duration {
	return read(r, key, raw, func(raw []byte) (time.Duration, error) { return duration(raw, unit) })
}

// inKey names the key that an error is about.
func inKey(key string, err error) error { return fmt.Errorf("%q: %w", key, err) }
