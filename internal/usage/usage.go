// Package usage has the errors of wrong usage, which end the program with an exit code of their own, and quotes for
// them what the user wrote.
package usage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"benchtop/internal/text"
)

// Error is an error that ends with the exit code of wrong usage.
type Error struct{ error }

// Wrap makes an error one of wrong usage.
func Wrap(err error) error { return Error{err} }

// Errorf is an error of wrong usage, as by [fmt.Errorf].
func Errorf(format string, a ...any) error { return Error{fmt.Errorf(format, a...)} }

// Unwrap is the error without its kind.
func (e Error) Unwrap() error { return e.error }

// Problems collects what is wrong, for all of it to be reported at once.
type Problems []error

// Bad adds a problem, as by [fmt.Errorf].
func (p *Problems) Bad(format string, a ...any) { *p = append(*p, fmt.Errorf(format, a...)) }

// BadIf adds a problem if there is one.
func (p *Problems) BadIf(problem bool, format string, a ...any) {
	if problem {
		p.Bad(format, a...)
	}
}

// Flag adds an error about the value of a flag, if there is one.
func (p *Problems) Flag(name string, err error) {
	if err != nil {
		p.Bad("--%s: %w", name, err)
	}
}

// OneOf adds a problem if the value of a flag is none of the choices.
func (p *Problems) OneOf(flag, value string, choices ...string) {
	p.BadIf(!slices.Contains(choices, value), "--%s %s: use %s", flag, Quote(value), strings.Join(choices, " or "))
}

// Quote is a text fit for the line of an error: in quotes where it needs them, and not too long.
func Quote(v string) string {
	v = Shorten(v)
	if v == "" ||
		strings.ContainsFunc(v, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return strconv.Quote(v)
	}
	return v
}

// Shorten cuts a text that would fill the screen.
func Shorten(v string) string { return text.Clip(v, 100) }

// DidYouMean suggests the name nearest to what was written, "" if none is near.
func DidYouMean(written string, names []string) string {
	const longest = 64 // no name is near to anything longer
	best, distance := "", len(written)/3+2
	if len(written) > longest {
		return ""
	}
	for _, n := range names {
		if d := editDistance(written, n); d < distance {
			best, distance = n, d
		}
	}
	for _, n := range names { // the end of a name, such as concurrency
		for _, end, more := strings.Cut(n, "-"); more && best == ""; _, end, more = strings.Cut(end, "-") {
			if len(written) > 3 && editDistance(written, end) <= len(written)/5 {
				best = n
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
