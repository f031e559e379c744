package assert

import (
	"strings"
	"testing"
)

// Fails looks for words in an error's text. Without words there must be no error.
func Fails(t testing.TB, what string, err error, words string) {
	t.Helper()
	if (err != nil) != (words != "") || err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("%s: error %v, want %q", what, err, words)
	}
}

// Succeeds ends a test that cannot go on after an error.
func Succeeds(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
