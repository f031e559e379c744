// Package assert has the comparisons that tests of several packages make.
package assert

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Same compares a value with the one that is wanted.
func Same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: want -, got +\n%s", what, diff)
	}
}

// Complains looks for parts of an error's text.
func Complains(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got %q, want %q in it", err, part)
		}
	}
}

// Fine ends a test whose preparation failed.
func Fine(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Failure is the error that comes with a value.
func Failure[T any](_ T, err error) error { return err }

// Must is a value that comes without an error; with one it panics, since there is nothing to go on with.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
