package loadgen

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// probed serves probes and other requests by scripts of their own, told apart by the prompt.
func probed(probe, other script) script {
	return func(c net.Conn, r *http.Request, body []byte) bool {
		if strings.Contains(string(body), `"prompt": "Hi"`) {
			return probe(c, r, body)
		}
		return other(c, r, body)
	}
}

func TestProbes(t *testing.T) {
	sec, ms := time.Second, time.Millisecond
	refusing := pieces(true, 0, plainAnswer("503 Busy", "text/plain", "busy"))
	for _, c := range []struct {
		name   string
		n      int
		server script
		change func(*Options)
		steer  func(*Engine) // after 2.5 s
		want   metrics.Probes
		sent   int // probes that reached the server
		ended  time.Duration
	}{
		// The pause follows the end of a probe, so probes start at 0, 1.5, 3, … s; the last is cut.
		{name: "one after the other", n: 1, server: probed(answer(sec), answer(9500*ms)),
			change: func(o *Options) { o.ProbeRate = 2 },
			want:   metrics.Probes{Completed: 6, Latencies: []time.Duration{sec, sec, sec, sec, sec, sec}}, sent: 7,
			ended: 9500 * ms},
		{name: "they take no slot", n: 2, server: probed(answer(sec), answer(1900*ms)),
			change: func(o *Options) { o.ProbeRate, o.Limit = 1, 1 },
			want:   metrics.Probes{Completed: 2, Latencies: []time.Duration{sec, sec}}, sent: 2, ended: 3800 * ms},
		{name: "one that hangs does not make the run longer", n: 1,
			server: probed(hanging(streamHead+chunk(text("a"))), answer(3*sec)),
			change: func(o *Options) { o.ProbeRate = 2 }, sent: 1, ended: 3 * sec},
		{name: "nor does the pause", n: 1, server: probed(answer(sec), answer(3*sec)),
			change: func(o *Options) { o.ProbeRate = 1e-12 },
			want:   metrics.Probes{Completed: 1, Latencies: []time.Duration{sec}}, sent: 1, ended: 3 * sec},
		{name: "failures count apart", n: 1, server: probed(refusing, answer(3*sec)),
			change: func(o *Options) { o.ProbeRate = 0.4 },
			want:   metrics.Probes{Failed: 2}, sent: 2, ended: 3 * sec},
		// Probes start at 0 and 2 s; the second one is under way when the run is told to end, and is the last.
		{name: "none starts while the run drains", n: 1, server: probed(answer(sec), answer(10*sec)),
			change: func(o *Options) { o.ProbeRate = 1 }, steer: func(e *Engine) { e.Drain(4 * sec) },
			want: metrics.Probes{Completed: 2, Latencies: []time.Duration{sec, sec}}, sent: 2, ended: 6500 * ms},
		{name: "nor after the duration", n: 1, server: probed(answer(sec), answer(10*sec)),
			change: func(o *Options) { o.ProbeRate, o.Until = 1, 3500*ms },
			want:   metrics.Probes{Completed: 2, Latencies: []time.Duration{sec, sec}}, sent: 2, ended: 10 * sec},
		{name: "a drain cuts one that hangs", n: 1,
			server: probed(hanging(streamHead+chunk(text("a"))), answer(10*sec)),
			change: func(o *Options) { o.ProbeRate = 1 }, steer: func(e *Engine) { e.Drain(4 * sec) }, sent: 1,
			ended: 6500 * ms},
		{name: "abort cuts them", n: 1, server: probed(answer(2*sec), answer(10*sec)),
			change: func(o *Options) { o.ProbeRate = 10 }, steer: (*Engine).Abort,
			want: metrics.Probes{Completed: 1, Latencies: []time.Duration{2 * sec}}, sent: 2, ended: 2500 * ms},
		{name: "none", n: 1, server: probed(answer(sec), answer(3*sec)), change: func(*Options) {}, ended: 3 * sec},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newScripted(t, c.server)
			var book logbook
			e := perform(t, s, &prompts{n: c.n}, &book, func(o *Options) {
				o.Probe = datasets.Turn{Text: "Hi", InputTokens: 1, MaxTokens: 1}
				// The load has models of its own, probes ask for the one of the run.
				o.Model, o.ModelFor = "base", func(int) string { return "lora" }
				c.change(o)
			}, func(e *Engine) {
				if c.steer != nil {
					time.AfterFunc(2500*ms, func() { c.steer(e) })
				}
			})
			assert.Equal(t, e.Ended(), c.ended, "the run ended after")
			got := e.Probes()
			if got.Completed != c.want.Completed || got.Failed != c.want.Failed ||
				!slices.Equal(got.Latencies, c.want.Latencies) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			sent := 0
			for i, body := range s.bodies {
				if strings.Contains(body, `"prompt": "Hi"`) {
					sent++
					if !strings.Contains(body, `"model": "base"`) || !strings.Contains(body, `"max_tokens": 1`) ||
						s.ids[i] != "" {
						t.Errorf("probe with the id %q: %s", s.ids[i], body)
					}
				} else if !strings.Contains(body, `"model": "lora"`) || s.ids[i] == "" {
					t.Errorf("request with the id %q: %s", s.ids[i], body)
				}
			}
			assert.Equal(t, sent, c.sent, "probes sent")
			if book.due != c.n || book.sent != c.n || len(book.all) != c.n {
				t.Errorf("the sink heard of %d due, %d sent, %d done; want %d of each", book.due, book.sent,
					len(book.all), c.n)
			}
		})
	}
}

// Probes do not affect the end of a run whose source fails.
func TestProbesWithABrokenSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, answer(time.Second))
		o := Defaults()
		o.Target, o.Start, o.Pacer, o.Schedule, o.ProbeRate = s.target(), time.Now(), "timer", every(0, 3), 1
		o.Probe = datasets.Turn{Text: "Hi"}
		e, err := New(o, event.Discard)
		assert.Fine(t, err)
		assert.Fails(t, "the source", e.Run(t.Context(), flow(brokenSource{})), "after 0 requests: unexpected EOF")
		if p := e.Probes(); p.Completed+p.Failed != 0 {
			t.Errorf("%+v of a run that was over at once", p)
		}
		s.close()
	})
}

type brokenSource struct{}

func (brokenSource) Next() (datasets.Conversation, error) {
	return datasets.Conversation{}, io.ErrUnexpectedEOF
}
