package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// told collects the lines that are told; shown those as well that are only shown, each with the time.
type told struct{ *strings.Builder }

func (t told) Tell(what string) { fmt.Fprintln(t, what) }
func (told) Show(string)        {}

type shown struct {
	began time.Time
	lines []string
}

func (s *shown) Tell(what string) { s.Show(what + " (told)") }
func (s *shown) Show(what string) {
	s.lines = append(s.lines, fmt.Sprintf("%s %s", time.Since(s.began).Round(100*time.Millisecond), what))
}

// The ready check tells each kind of error once, as soon as it comes.
func TestReadyCheckTellsEachKindOfErrorOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		o, all := Options{Ready: 60},
			[]string{"dial tcp: connection refused", "dial tcp: connection refused", "read tcp 127.0.0.1:40311: reset",
				"read tcp 127.0.0.1:40312: reset", "status 503: loading", "dial tcp: connection refused"}
		err := o.Patience(told{&said}).Until(t.Context(), "http://server",
			func(context.Context) (final bool, err error) {
				if len(all) > 0 {
					err, all = errors.New(all[0]), all[1:]
				}
				return false, err
			})
		const want = "waiting up to 1m0s more for http://server: dial tcp: connection refused\n" +
			"waiting up to 58s more for http://server: read tcp 127.0.0.1:40311: reset\n" +
			"waiting up to 56s more for http://server: status 503: loading\n"
		if got := said.String(); got != want || err != nil {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	})
}

// A dashboard shows the time left every second, while an attempt is on as well as between two. A log gets at most ten
// lines.
func TestCountdown(t *testing.T) {
	silent := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	refused := func(context.Context) error { return errors.New("refused") }
	for _, c := range []struct {
		name    string
		seconds int
		attempt func(context.Context) error
		want    []string // the first lines
		told    int
		err     string
	}{
		{"silent", 30, silent, []string{"1s waiting up to 29s more for http://server",
			"2s waiting up to 28s more for http://server"}, 2, "no answer within 30s"},
		{"refused", 2, refused, []string{"0s waiting up to 2s more for http://server: refused (told)",
			"1s waiting up to 1s more for http://server: refused"}, 1, "refused"},
		{"for long", 600, silent, nil, 9, "no answer within 10m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to, began := &shown{began: time.Now()}, time.Now()
				o := Options{Ready: c.seconds}
				err := o.Patience(to).Until(t.Context(), "http://server",
					func(ctx context.Context) (bool, error) { return false, c.attempt(ctx) })
				if err == nil || err.Error() != c.err || time.Since(began) > time.Duration(c.seconds)*time.Second {
					t.Errorf("%v after %s, want %s", err, time.Since(began), c.err)
				}
				if len(to.lines) < c.seconds-1 ||
					strings.Join(to.lines[:len(c.want)], "\n") != strings.Join(c.want, "\n") {
					t.Errorf("got %q, want %q first", to.lines, c.want)
				}
				assert.Equal(t, strings.Count(strings.Join(to.lines, "\n"), "(told)"), c.told, "lines told")
			})
		})
	}
}

// A final failure and the end of the context end the wait; without patience there is one attempt, without a limit.
func TestUntilEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for _, c := range []struct {
			name    string
			ctx     context.Context
			seconds int
			final   bool
		}{{"final", t.Context(), 5, true}, {"cancelled", over, 5, false}, {"no patience", t.Context(), 0, false}} {
			began, tries := time.Now(), 0
			o := Options{Ready: c.seconds}
			err := o.Patience(told{&strings.Builder{}}).Until(c.ctx, "http://server",
				func(ctx context.Context) (bool, error) {
					tries++
					if _, limited := ctx.Deadline(); limited != (c.seconds > 0) {
						t.Errorf("%s: limited %t", c.name, limited)
					}
					return c.final, errors.New("no")
				})
			if err == nil || err.Error() != "no" || tries != 1 || time.Since(began) > 0 {
				t.Errorf("%s: %v after %d tries and %s", c.name, err, tries, time.Since(began))
			}
		}
		if err := (*Patience)(nil).Until(t.Context(), "",
			func(context.Context) (bool, error) { return false, nil }); err != nil {
			t.Error(err)
		}
	})
}

// The wait for a server does not end with the error of another that answered in the end.
func TestPatienceIsOfOneServerAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Ready: 10}
		p := o.Patience(told{&strings.Builder{}})
		attempts := 0
		err := p.Until(t.Context(), "http://first", func(context.Context) (final bool, err error) {
			if attempts++; attempts < 3 {
				return false, errors.New("the first refuses")
			}
			return false, nil
		})
		assert.Fine(t, err)
		err = p.Until(t.Context(), "http://second", func(ctx context.Context) (final bool, err error) {
			<-ctx.Done()
			return false, ctx.Err()
		})
		if got, want := fmt.Sprint(err), "no answer within 10s"; got != want {
			t.Errorf("got %s; want %s", got, want)
		}
	})
}

// An attempt that times out at the end of the patience, a moment before its context does, does not replace the reason
// of the wait.
func TestPatienceEndsInATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&Options{Ready: 3}).Patience(told{new(strings.Builder)})
		tries := 0
		err := p.Until(t.Context(), "http://server", func(context.Context) (bool, error) {
			if tries++; tries == 1 {
				return false, errors.New("connection refused")
			}
			time.Sleep(time.Until(p.until))
			return false, errors.New("i/o timeout")
		})
		if err == nil || err.Error() != "connection refused" || tries != 2 {
			t.Errorf("%v after %d tries", err, tries)
		}
	})
}
