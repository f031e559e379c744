package panels

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/tuitest"
)

func TestClientState(t *testing.T) {
	unsampledRun := tuitest.Sampled(tuitest.Mid(), tuitest.Late, tuitest.Late)
	unsampledRun.Client = nil
	noSeconds := tuitest.Sampled(tuitest.Done(), nil, tuitest.Late)
	noSeconds.Report.Client.Seconds = nil
	judgedByReport := tuitest.Sampled(tuitest.Done(), nil, nil)
	judgedByReport.Report.Client.Verdict.Why = tuitest.Together
	for _, c := range []struct {
		name string
		s    metrics.Snapshot
		want health
		why  string
	}{
		{"no sample yet", unsampledRun, unsampled, ""},
		{"fine", tuitest.Sampled(tuitest.Mid(), nil, nil), well, ""},
		{"the last seconds are not", tuitest.Sampled(tuitest.Mid(), nil, tuitest.Late), strained,
			"p99 send delay 31ms"},
		{"the whole run is not", tuitest.Sampled(tuitest.Mid(), tuitest.Late, nil), limited, "p99 send delay 31ms"},
		{"neither is", tuitest.Sampled(tuitest.Mid(), tuitest.Together, tuitest.Late), limited,
			"1.3% of chunks coalesced before read"},
		{"over: the last seconds do not count", tuitest.Sampled(tuitest.Done(), nil, tuitest.Late), well, ""},
		{"over: the report decides", judgedByReport, limited, "1.3% of chunks coalesced before read"},
		{"over before the first sample", noSeconds, unsampled, ""},
		{"the first reason that says anything",
			tuitest.Sampled(tuitest.Mid(), []string{"", " \x07", "\x1b[31mfull\n"}, nil), limited, "full"},
		{"no words at all", tuitest.Sampled(tuitest.Mid(), []string{""}, nil), limited, ""},
		{"far too many words", tuitest.Sampled(tuitest.Mid(), []string{strings.Repeat("漢", 500)}, nil), limited,
			strings.Repeat("漢", 29) + "…"},
	} {
		v := &View{Snapshot: &c.s}
		if got, why := v.client(); got != c.want || why != c.why {
			t.Errorf("%s: state %d because of %q, want %d because of %q", c.name, got, why, c.want, c.why)
		}
	}
}

// Only figures that a run has can be touched.
func TestClientTouches(t *testing.T) {
	all := metrics.OfferedRate | metrics.FirstTokens | metrics.Gaps | metrics.WholeRequests | metrics.WithinSLO
	s := tuitest.Sampled(tuitest.Mid(), []string{"late"}, nil)
	s.Verdict.Touches = []metrics.Figures{all}
	for _, c := range []struct {
		plan metrics.Plan
		want string
	}{
		{metrics.Plan{Backend: "openai"}, "late; affects offered rate, TTFT, ITL, E2EL"},
		{metrics.Plan{Backend: "openai", Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}},
			"late; affects offered rate, TTFT, ITL, E2EL, SLO"},
		{metrics.Plan{Backend: "openai-embeddings", Pooling: true},
			"late; affects offered rate, E2EL"},
	} {
		s.Plan = &c.plan
		if _, got := (&View{Snapshot: &s}).client(); got != c.want {
			t.Errorf("%s: %q, want %q", c.plan.Backend, got, c.want)
		}
	}
}

func TestClientWords(t *testing.T) {
	for _, c := range []struct {
		state health
		why   string
		w     int
		want  string
	}{
		{unsampled, "", 80, ""},
		{well, "", 9, "client ok"},
		{well, "", 8, ""},
		{strained, "p99 send delay 31ms", 80, "client under pressure: p99 send delay 31ms"},
		{strained, "p99 send delay 31ms", 42, "client under pressure: p99 send delay 31ms"},
		{strained, "p99 send delay 31ms", 40, "client under pressure: p99 send delay 3…"},
		{strained, "p99 send delay 31ms", 32, "client under pressure"},
		{strained, "p99 send delay 31ms", -9, "client under pressure"},
		{strained, "", 80, "client under pressure"},
		{limited, "p99 send delay 31ms", 38, "client OVERLOADED: p99 send delay 31ms"},
		{limited, "p99 send delay 31ms", 31, "client OVERLOADED"},
		{limited, "p99 send delay 31ms", 17, "client OVERLOADED"},
		{limited, "p99 send delay 31ms", 13, "! client"},
		{limited, "p99 send delay 31ms", -9, "! client"},
		{limited, "", 80, "client OVERLOADED"},
	} {
		assert.Equal(t, c.state.describe(c.why, c.w), c.want, "state %d in %d columns", c.state, c.w)
	}
}

// Stamps are the user's where the kernel was not asked for them, or did not have most of them.
func TestUserStamps(t *testing.T) {
	for _, c := range []struct {
		source    string
		unstamped int // of 2000 chunks a second
		want      bool
	}{
		{metrics.KernelStamps, 0, false}, {metrics.KernelStamps, 100, false}, {metrics.KernelStamps, 2000, true},
		{metrics.UserStamps, 2000, true},
	} {
		for _, s := range []metrics.Snapshot{tuitest.Mid(), tuitest.Done()} {
			s = tuitest.Sampled(s, nil, nil)
			s.Plan = &metrics.Plan{Timestamps: c.source}
			for i := range s.Client {
				s.Client[i].Unstamped = c.unstamped
			}
			if s.Report != nil {
				s.Report.Client.Source, s.Report.Client.Stamps.Unstamped = c.source, c.unstamped*len(s.Client)
			}
			v := &View{Snapshot: &s}
			told := strings.Contains(title(latencyPanel, v, 80, 9), "user stamps")
			if got := v.userStamped(); got != c.want || told != c.want {
				t.Errorf("%s, %d of 2000 without a stamp, %s: %v", c.source, c.unstamped, s.State, got)
			}
		}
	}
}
