package shape

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// Each kind of load has an end, a demand on the client, and a description.
func TestShapes(t *testing.T) {
	const rows = 40
	sec, inf := time.Second, metrics.Rate(math.Inf(1))
	line := metrics.Ramp{Strategy: "linear", From: 10, To: 30}
	inTime := line
	inTime.Over = 2 * sec
	rates := []metrics.Stage{{Length: sec, Load: metrics.Load{Value: 8}},
		{Start: sec, Length: 2 * sec, Load: metrics.Load{Value: 16}}}
	users := []metrics.Stage{{Length: sec, Load: metrics.Users.Of(4)},
		{Start: sec, Length: 2 * sec, Load: metrics.Users.Of(9)}}
	for _, c := range []struct {
		shape              Shape
		asked, sent, limit int
		end                time.Duration
		endless, closed    bool
		peak               Demand
		words              string
	}{
		{Rate{Bounds{Count: 1000}, 20, 1}, 1000, 40, 0, 0, false, false, Demand{0, 20, 0}, "20 req/s (Poisson)"},
		{Rate{Bounds{Count: 1000, Duration: 2 * sec}, 20, 1}, 40, 40, 0, 2 * sec, false, false, Demand{0, 20, 0},
			"20 req/s (Poisson)"},
		{Rate{Bounds{Count: 1000, Asked: true, Duration: sec, Limit: 7}, 20, math.Inf(1)}, 1000, 19, 7, sec, false,
			false, Demand{7, 20, 0}, "20 req/s (burstiness inf), at most 7 in flight"},
		{Rate{Bounds{Count: 1000}, inf, 1}, 1000, 40, 0, 0, false, false, Demand{40, 0, 0}, "all at once"},
		{Rate{Bounds{Count: 1000, Limit: 7}, inf, 1}, 1000, 40, 7, 0, false, false, Demand{7, 0, 7},
			"all at once, at most 7 in flight"},
		{Users{Bounds{Count: 1000, Duration: sec, Limit: 7}}, 1000, 0, 7, sec, true, true, Demand{7, 0, 7},
			"closed loop of 7 users for 1s"},
		{Users{Bounds{Count: 40, Asked: true, Duration: sec, Limit: 70}}, 40, 40, 70, sec, false, true,
			Demand{40, 0, 40}, "all at once, at most 70 in flight"},
		{Ramp{Bounds{Count: 1000}, line, math.Inf(1)}, 1000, 40, 0, 0, false, false, Demand{0, 30, 0},
			"linear ramp 10 to 30 req/s over 40 requests"},
		{Ramp{Bounds{Count: 1000, Duration: sec, Limit: 7}, line, math.Inf(1)}, 1000, 12, 7, sec, false, false,
			Demand{7, 30, 0}, "linear ramp 10 to 30 req/s over 40 requests, at most 7 in flight"},
		{NewTimedRamp(Bounds{Count: 1000}, inTime, math.Inf(1)), 1000, 39, 0, 2 * sec, false, false, Demand{0, 30, 0},
			"linear ramp 10 to 30 req/s over 2s"},
		{NewTimedRamp(Bounds{Count: 25, Asked: true}, inTime, math.Inf(1)), 25, 25, 0, 0, false, false,
			Demand{0, 30, 0}, "linear ramp 10 to 30 req/s over 2s"},
		{NewStages(Bounds{Count: 1000}, rates, math.Inf(1)), 1000, 39, 0, 3 * sec, false, false, Demand{0, 16, 0},
			"stages of 8, 16 req/s"},
		{NewStages(Bounds{Count: 1000, Duration: sec}, rates, math.Inf(1)), 1000, 7, 0, sec, false, false,
			Demand{0, 8, 0}, "stages of 8 req/s"},
		{NewUserStages(Bounds{Count: 1000}, users), 1000, 0, 4, 3 * sec, true, true, Demand{9, 0, 4},
			"stages of 4, 9 users"},
		{Trace{Bounds{Count: 1000}}, 1000, 40, 0, 0, false, false, Demand{}, "at the times of the trace"},
		{Trace{Bounds{Count: 1000, Duration: sec, Limit: 7}}, 1000, 10, 7, sec, false, false, Demand{7, 0, 7},
			"at the times of the trace, at most 7 in flight"},
		{NewSearch(Bounds{Count: 1000}, metrics.Find{From: 1, Most: 9, Hold: sec}, "ttft:500 (ms)"), 1000, 0, 0, 0,
			true, false, Demand{}, "search 1 to 9 req/s for the highest load within ttft:500 (ms), held for 1s"},
		{NewSearch(Bounds{Count: 1000}, metrics.Find{From: 2, Most: 9, Hold: sec, Unit: metrics.Users},
			"ttft:500 (ms)"), 1000, 0, 2, 0, true, true, Demand{2, 0, 2},
			"search 2 to 9 users for the highest load within ttft:500 (ms), held for 1s"},
	} {
		s := c.shape
		var times []time.Duration
		if timed, ok := s.(Timetable); ok {
			times = timed.Times(legacy(0))
		} else if _, ok := s.(Trace); ok {
			for i := range rows {
				times = append(times, time.Duration(i)*sec/10)
			}
		}
		a := s.Arrivals(rows, times, legacy(0))
		if s.Requests() != c.asked || s.End() != c.end || s.Endless() != c.endless ||
			s.Describe(rows, metrics.RequestsPerSecond) != c.words {
			t.Errorf("%T: %d requests, ends at %s (endless %v), is %q; want %+v", s, s.Requests(), s.End(), s.Endless(),
				s.Describe(rows, metrics.RequestsPerSecond), c)
		}
		if a.Requests != c.sent || a.Limit != c.limit || a.ClosedLoop != c.closed || a.Limit > 0 && a.Until != c.end {
			t.Errorf("%T: arrivals %+v, want %+v", s, a, c)
		}
		assert.Equal(t, s.Peak(a.Requests), c.peak, "%T: asks for", s)
		var p metrics.Plan
		Enter(&p, s, rows, a.Requests)
		_, search := s.(Search)
		if p.Load != c.words || p.Requests != a.Requests || p.Duration != c.end || (p.Find != nil) != search {
			t.Errorf("%T: plan %+v", s, p)
		}
	}
}

// An impossible load is refused in the words of the flags.
func TestValidate(t *testing.T) {
	long := 20000 * time.Hour
	nan := math.NaN()
	for _, c := range []struct {
		shape Shape
		want  string // "" for nothing wrong
	}{
		{Rate{Bounds{Count: 5}, 3, 1}, ""},
		{Rate{Bounds{Count: 1000}, 1e-9, 1}, "--request-rate 1e-09: 1000 requests would take more than a year"},
		{Rate{Bounds{Count: 5, Duration: time.Second}, metrics.Rate(math.Inf(1)), 1},
			"--duration at an infinite rate never stops sending"},
		{Rate{Bounds{Duration: time.Hour}, 1e8, 1}, "too many for one run"},
		{Users{Bounds{Count: MostArrivals + 1}}, "too many for one run"},
		{Ramp{Line: metrics.Ramp{Strategy: "linear", From: nan, To: 5}}, "needs --ramp-up-start-rps"},
		{Ramp{Line: metrics.Ramp{Strategy: "linear", To: 5}}, "start from 1, or add --ramp-over"},
		{Ramp{Line: metrics.Ramp{Strategy: "linear", From: 9, To: 5}}, "must not be more than --ramp-up-end-rps 5"},
		{NewTimedRamp(Bounds{}, metrics.Ramp{Strategy: "linear", To: 5, Over: time.Second}, 1), ""},
		{NewTimedRamp(Bounds{}, metrics.Ramp{Strategy: "exponential", To: 5, Over: time.Second}, 1),
			"cannot start at 0"},
		{NewTimedRamp(Bounds{Asked: true}, metrics.Ramp{To: 5, Over: time.Second}, 1), "give --duration"},
		{NewStages(Bounds{}, []metrics.Stage{{Length: long, Load: metrics.Load{Value: 1000}}}, 1),
			"too many for one run"},
		{NewStages(Bounds{Count: 5, Asked: true}, []metrics.Stage{{Length: long, Load: metrics.Load{Value: 1000}}}, 1),
			""},
		{NewSearch(Bounds{}, metrics.Find{From: 1.5, Most: 9, Step: time.Second, Hold: time.Second,
			Unit: metrics.Users}, ""), "--find-from 1.5: users are whole numbers"},
	} {
		all := metrics.Each(c.shape.Validate(), func(err error) string { return err.Error() })
		if c.want == "" && len(all) > 0 ||
			c.want != "" && !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%+v: %q, want %q", c.shape, all, c.want)
		}
	}
}
