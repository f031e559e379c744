// Package trace reads recorded requests from rows: which columns hold their times and lengths, and how their values are
// read. A value is raw JSON, where CSV has strings.
package trace

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"benchtop/datasets/lengths"
	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// Columns are the names of columns, "" for those that are not there.
type Columns struct{ Timestamp, Input, Output, HashIDs string }

// known are the names of published traces and tools, without case and signs, the likelier first.
var known = [4][]string{
	{"timestamp", "timestamps", "timestampms", "arrivaltime", "arrivedat", "arrivaltimestamp", "requesttime",
		"starttime", "arrival", "time", "ts"},
	{"inputlength", "inputlen", "inputtokens", "numinputtokens", "promptlen", "promptlength", "prompttokens",
		"numprompttokens", "contexttokens",
		"requesttokens", "requestlength", "numprefilltokens", "prefilltokens", "isl"},
	{"outputlength", "outputlen", "outputtokens", "numoutputtokens", "expectedoutputlen", "responsetokens",
		"responselength", "completiontokens",
		"generatedtokens", "numdecodetokens", "decodetokens", "osl"},
	{"hashids", "blockhashes", "blockids"},
}

// all are the names, in the order of known.
func (c *Columns) all() [4]*string {
	return [4]*string{&c.Timestamp, &c.Input, &c.Output, &c.HashIDs}
}

// Complete finds the columns without a name among those of a file by well-known names, such as those of the traces of
// Azure, BurstGPT and Mooncake, and makes sure that the others are there.
func (c Columns) Complete(there []string) (Columns, error) {
	for i, name := range c.all() {
		if *name == "" {
			*name = wellKnown(there, known[i])
		} else if !slices.Contains(there, *name) {
			return c, fmt.Errorf("unknown column %s; the columns are %s", textfile.Quote(*name), textfile.Names(there))
		}
	}
	return c, nil
}

// wellKnown is the likeliest of the names that are known, "" for none.
func wellKnown(there, known []string) (likeliest string) {
	for _, name := range there {
		plain := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, name)
		if rank := slices.Index(known, plain); rank >= 0 {
			likeliest, known = name, known[:rank]
		}
	}
	return likeliest
}

// Length reads a length in tokens, which may be written as 12.0 or "12".
func Length(raw []byte, least int) (int, error) {
	f, err := number(raw)
	if err != nil || f < float64(least) || f > lengths.Most || f != math.Trunc(f) {
		return 0, fmt.Errorf("expected a whole number from %d to %d: got %s", least, lengths.Most, textfile.Value(raw))
	}
	return int(f), nil
}

// number reads a number, which may stand in a string.
func number(raw []byte) (float64, error) {
	if len(raw) > 400 {
		return 0, strconv.ErrSyntax
	}
	text := raw
	if jsonscan.IsString(raw) {
		if text = bytes.TrimSpace(content(raw)); bytes.ContainsAny(text, "xX_pPnN") { // numbers of Go alone, and NaN
			return 0, strconv.ErrSyntax
		}
	}
	return strconv.ParseFloat(string(text), 64)
}

// content is the text of a string, which is copied only where it has to be.
func content(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return bytes.Trim(raw, `"`)
	}
	return []byte(jsonscan.Text(raw))
}

// Clock turns time stamps into offsets from the first one: numbers, or dates as 2023-11-16 18:17:03.98 and
// 2023-11-16T18:17:03Z.
type Clock struct {
	// Unit is how many seconds a number counts as; 0 goes by the size of the first one: seconds, or milli-, micro- or
	// nanoseconds since 1970.
	Unit float64
	// Milliseconds has whole numbers that do not count from 1970 count milliseconds, if Unit is 0.
	Milliseconds bool

	begun  bool
	layout string // of dates, "" for numbers
	origin time.Time
	first  float64
}

var layouts = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05 MST", "2006/01/02 15:04:05"}

// maxOffset is the longest time that can be right.
const maxOffset = 100 * 366 * 24 * time.Hour

// At is the offset of a time stamp. It is negative for one before the first.
func (c *Clock) At(raw []byte) (time.Duration, error) {
	if !c.begun {
		return 0, c.begin(raw)
	}
	if c.layout != "" {
		at, err := time.Parse(c.layout, string(bytes.TrimSpace(content(raw))))
		if !jsonscan.IsString(raw) || err != nil {
			return 0, fmt.Errorf("expected a time like the first one, %s: got %s", c.origin.Format(c.layout),
				textfile.Value(raw))
		}
		return c.offset(raw, at.Sub(c.origin).Seconds(), at.Sub(c.origin))
	}
	f, err := number(raw)
	if err != nil {
		return 0, fmt.Errorf("expected a number, as the first time stamp is: got %s", textfile.Value(raw))
	}
	seconds := (f - c.first) * c.Unit
	return c.offset(raw, seconds, time.Duration(math.Round(seconds*float64(time.Second))))
}

func (c *Clock) offset(raw []byte, seconds float64, d time.Duration) (time.Duration, error) {
	if !(math.Abs(seconds) <= maxOffset.Seconds()) {
		hint := ""
		if c.layout == "" {
			hint = "; is its unit seconds?"
		}
		return 0, fmt.Errorf("%s is more than a hundred years from the first time stamp%s", textfile.Value(raw), hint)
	}
	return d, nil
}

// begin takes the first time stamp.
func (c *Clock) begin(raw []byte) error {
	if f, err := number(raw); err == nil {
		c.begun, c.first = true, f
		if c.Unit == 0 {
			if c.Unit = unit(f); c.Unit == 1 && c.Milliseconds && !bytes.ContainsRune(raw, '.') {
				c.Unit = 1e-3
			}
		}
		return nil
	}
	if jsonscan.IsString(raw) {
		for _, layout := range layouts {
			if at, err := time.Parse(layout, strings.TrimSpace(jsonscan.Text(raw))); err == nil {
				c.begun, c.layout, c.origin = true, layout, at
				return nil
			}
		}
	}
	return fmt.Errorf("expected a time, as 12.5 or 2023-11-16 18:17:03.98: got %s", textfile.Value(raw))
}

// unit is the unit of a number that counts from 1970, in seconds; 1 for one that does not, or counts seconds.
func unit(f float64) float64 {
	switch {
	case f >= 1e17:
		return 1e-9
	case f >= 1e14:
		return 1e-6
	case f >= 1e11:
		return 1e-3
	}
	return 1
}

// units are those of time stamps, in seconds; "" is for the one that is found.
var units = map[string]float64{"": 0, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

// ParseUnit is how many seconds a unit has, 0 for "".
func ParseUnit(name string) (seconds float64, err error) {
	seconds, known := units[name]
	if !known {
		err = fmt.Errorf("%s: use s, ms, us or ns", textfile.Quote(name))
	}
	return seconds, err
}

// UnitName is the name of a unit of so many seconds, "" for others.
func UnitName(seconds float64) string {
	for name, s := range units {
		if s == seconds {
			return name
		}
	}
	return ""
}

// Dates reports whether time stamps are dates. It is false before the first.
func (c *Clock) Dates() bool { return c.layout != "" }
