package usage

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":                      `""`,
		"plain.json":            "plain.json",
		"two words":             `"two words"`,
		"a\x1b[31m":             `"a\x1b[31m"`,
		strings.Repeat("é", 60): strings.Repeat("é", 50) + "…",
	} {
		assert.Equal(t, Quote(text), want, "%q", text)
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"num-prompts", "seed", "request-rate"}
	for written, want := range map[string]string{
		"num-prompt":            " (did you mean num-prompts?)",
		"sed":                   " (did you mean seed?)",
		"completely-else":       "",
		"promts":                " (did you mean num-prompts?)",
		"rate":                  " (did you mean request-rate?)",
		strings.Repeat("x", 65): "",
	} {
		assert.Equal(t, DidYouMean(written, names), want, "%s", written)
	}
}

// An error of wrong usage is recognized at any depth, and wraps its cause.
func TestError(t *testing.T) {
	for _, err := range []error{Wrap(fs.ErrExist), Errorf("a: %w", fs.ErrExist)} {
		if err = fmt.Errorf("outer: %w", err); !errors.As(err, new(Error)) || !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v is not what it should be", err)
		}
	}
	var p Problems
	if p.Bad("--seed %d: too small", -1); errors.Join(p...).Error() != "--seed -1: too small" {
		t.Errorf("got %v", p)
	}
}

// Flags are checked by rules that add a problem each, or none.
func TestProblems(t *testing.T) {
	var p Problems
	p.BadIf(false, "nothing")
	p.BadIf(true, "--first %d: must be 0 or more", -1)
	p.Flag("color", nil)
	p.Flag("color", fs.ErrInvalid)
	p.OneOf("cache", "cold", "cold", "as-is")
	p.OneOf("cache", "hot", "cold", "as-is")
	const want = "--first -1: must be 0 or more\n--color: invalid argument\n--cache hot: use cold or as-is"
	if got := errors.Join(p...).Error(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
