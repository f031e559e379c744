// Package assert has the comparisons that tests of several packages make.
package assert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Same compares a value with the one that is wanted.
func Same(t testing.TB, what string, got, want any, how ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, how...); diff != "" {
		t.Errorf("%s: want -, got +\n%s", what, diff)
	}
}

// Equal compares a value with the one that is wanted, by ==. What it is has the form of fmt.Printf.
func Equal[T comparable](t testing.TB, got, want T, what string, args ...any) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %s, want %s", fmt.Sprintf(what, args...), shown(got), shown(want))
	}
}

// Need is Equal, which ends a test that cannot go on with another value.
func Need[T comparable](t testing.TB, got, want T, what string, args ...any) {
	if got != want {
		t.Helper()
		t.Fatalf("%s: got %s, want %s", fmt.Sprintf(what, args...), shown(got), shown(want))
	}
}

// EqualAll is Equal for lists. One without values is as none.
func EqualAll[T comparable](t testing.TB, got, want []T, what string, args ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Errorf("%s: got %s, want %s", fmt.Sprintf(what, args...), shown(got), shown(want))
	}
}

// shown quotes texts, but for those of several lines.
func shown(v any) string {
	switch s, text := v.(string); {
	case strings.Contains(s, "\n"):
		return "\n" + s + "\n"
	case text:
		return fmt.Sprintf("%q", v)
	}
	if s, texts := v.([]string); texts {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%+v", v)
}

// Has looks for parts of a text.
func Has(t testing.TB, text string, parts ...string) {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Helper()
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// Lacks looks for parts that a text must not have.
func Lacks(t testing.TB, text string, parts ...string) {
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Helper()
			t.Errorf("%q in\n%s", part, text)
		}
	}
}

// Is looks for an error among those that an error wraps.
func Is(t testing.TB, err, want error) {
	if !errors.Is(err, want) {
		t.Helper()
		t.Errorf("got error %v, want %v", err, want)
	}
}

// Complains looks for parts of an error's text.
func Complains(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one with %q", parts)
	}
	Has(t, err.Error(), parts...)
}

// Fails looks for words in an error's text. Without words there must be no error.
func Fails(t testing.TB, what string, err error, words string) {
	t.Helper()
	if (err != nil) != (words != "") || err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("%s: error %v, want %q", what, err, words)
	}
}

// Fine ends a test that cannot go on after an error.
func Fine(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Failure is the error that comes with a value.
func Failure[T any](_ T, err error) error { return err }

// Must is a value that comes without an error; with one it ends the test. It is called as Must(f())(t).
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return v
	}
}
