package loadgen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// All requests of a conversation ask for its model, in any order of sending, and record it.
func TestModelFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, turns = 4, 2
		s := newScripted(t, answer(time.Second))
		var book logbook
		var asked []int
		perform(t, s, &prompts{n: n, turns: turns}, &book, func(o *Options) {
			o.Limit, o.Model, o.KeepText = 3, "base", true
			o.ModelFor = func(i int) string {
				asked = append(asked, i)
				if i == 2 {
					return "" // the run's own
				}
				return fmt.Sprint("m", i)
			}
		}, nil)
		assert.EqualAll(t, asked, []int{0, 1, 2, 3}, "asked for the models of")
		want := []string{"m0", "m0", "m1", "m1", "base", "base", "m3", "m3"}
		var got, sent []string
		for _, q := range book.all {
			q.Model = cmp.Or(q.Model, "base")
			got = append(got, q.Model)
		}
		for _, body := range s.bodies {
			_, rest, _ := strings.Cut(body, `"model": "`)
			model, _, _ := strings.Cut(rest, `"`)
			sent = append(sent, model)
		}
		slices.Sort(sent)
		assert.EqualAll(t, got, want, "requests name")
		slices.Sort(want)
		assert.EqualAll(t, sent, want, "bodies name")
	})
}

// Where all requests ask for the same model, they do not repeat its name.
func TestOneModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, answer(0))
		q := load(t, s, 1, func(o *Options) { o.Model = "base" })[0]
		if q.Model != "" || !strings.Contains(s.bodies[0], `"model": "base"`) {
			t.Errorf("request names %q, body %s", q.Model, s.bodies[0])
		}
	})
}
