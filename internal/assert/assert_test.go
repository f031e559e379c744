package assert

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// record is a test that keeps what it is told.
type record struct {
	testing.TB
	told  string
	ended bool
}

func (r *record) Helper()                       {}
func (r *record) Errorf(form string, of ...any) { r.told += fmt.Sprintf(form, of...) }
func (r *record) Fatal(of ...any) {
	r.told, r.ended = fmt.Sprint(of...), true
	runtime.Goexit()
}

func (r *record) Fatalf(form string, of ...any) { r.Fatal(fmt.Sprintf(form, of...)) }

// A comparison that cannot fail would hide every bug.
func TestComparisonsTell(t *testing.T) {
	wrong := errors.New("wrong words")
	for _, c := range []struct {
		compare func(testing.TB)
		told    string // "" for nothing
		ends    bool
	}{
		{func(t testing.TB) { Same(t, "x", 1, 1) }, "", false},
		{func(t testing.TB) { Same(t, "x", 1, 2) }, "x: want -, got +", false},
		{func(t testing.TB) { Equal(t, "a", "a", "x") }, "", false},
		{func(t testing.TB) { Equal(t, "a", "b", "row %d", 1) }, `row 1: got "a", want "b"`, false},
		{func(t testing.TB) { Equal(t, 1.5, 2, "x") }, "x: got 1.5, want 2", false},
		{func(t testing.TB) { Need(t, 1, 1, "x") }, "", false},
		{func(t testing.TB) { Need(t, 1, 2, "row %d", 1) }, "row 1: got 1, want 2", true},
		{func(t testing.TB) { EqualAll(t, nil, []int{}, "x") }, "", false},
		{func(t testing.TB) { EqualAll(t, []string{"a"}, []string{"b"}, "x") }, `x: got ["a"], want ["b"]`, false},
		{func(t testing.TB) { Has(t, "some text", "some", "text") }, "", false},
		{func(t testing.TB) { Has(t, "some text", "some", "word") }, "no \"word\" in\nsome text", false},
		{func(t testing.TB) { Lacks(t, "some text", "word") }, "", false},
		{func(t testing.TB) { Lacks(t, "some text", "word", "text") }, "\"text\" in\nsome text", false},
		{func(t testing.TB) { Is(t, fmt.Errorf("x: %w", wrong), wrong) }, "", false},
		{func(t testing.TB) { Is(t, nil, wrong) }, "got error <nil>, want wrong words", false},
		{func(t testing.TB) { Complains(t, wrong, "wrong", "words") }, "", false},
		{func(t testing.TB) { Complains(t, wrong, "other") }, `no "other" in`, false},
		{func(t testing.TB) { Complains(t, nil, "wrong") }, "got no error", true},
		{func(t testing.TB) { Fails(t, "x", wrong, "wrong") }, "", false},
		{func(t testing.TB) { Fails(t, "x", wrong, "") }, `x: error wrong words, want ""`, false},
		{func(t testing.TB) { Fails(t, "x", nil, "wrong") }, `x: error <nil>, want "wrong"`, false},
		{func(t testing.TB) { Fine(t, nil) }, "", false},
		{func(t testing.TB) { Fine(t, wrong) }, "wrong words", true},
		{func(t testing.TB) { Must(1, wrong)(t) }, "wrong words", true},
	} {
		r, done := new(record), make(chan bool)
		go func() {
			defer close(done)
			c.compare(r)
		}()
		<-done
		if !strings.Contains(r.told, c.told) || c.told == "" && r.told != "" || r.ended != c.ends {
			t.Errorf("told %q and ended %t, want %q and %t", r.told, r.ended, c.told, c.ends)
		}
	}
	if got := Must(1, nil)(t); got != 1 {
		t.Errorf("got %d", got)
	}
}
