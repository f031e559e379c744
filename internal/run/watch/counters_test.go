package watch

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// The server's profiler and its counters before and after the run; notes say what went wrong, without the secrets of
// the URL.
func TestServerBesideTheRun(t *testing.T) {
	const page = "vllm:spec_decode_num_drafts_total %d\nvllm:spec_decode_num_draft_tokens_total " +
		"%[1]d\nvllm:spec_decode_num_accepted_tokens_total %[1]d\n" +
		"vllm:diffusion_num_denoising_steps_total %[1]d\nvllm:diffusion_num_canvas_positions_total " +
		"%[1]d\nvllm:diffusion_num_committed_tokens_total %[1]d\n"
	metricsAre := func(n int) string { return fmt.Sprintf(page, n) }
	const notFound = "Not Found: no such ***; a server offers its profiler only if it was started with one"
	const fell = "the server's counters dropped during the run: it restarted, or another server answered; they are " +
		"left out"
	for _, c := range []struct {
		name          string
		profile       bool
		before, after string // pages, "" for a server that is lost
		profiler      string // its answer, "" for a good one
		moved         int    // the counters, 0 for not known
		notes         []string
		asked         string
	}{
		{"counters", false, metricsAre(3), metricsAre(8), "", 5, nil, "GET /metrics, GET /metrics"},
		{"a profiler", true, metricsAre(3), metricsAre(8), "", 5, nil,
			"POST /start_profile, GET /metrics, GET /metrics, POST /stop_profile"},
		{"no profiler", true, metricsAre(3), metricsAre(8), "no such sesame", 5, []string{
			"the server's profiler did not start: asking the server to start its profiler: " + notFound,
		}, "POST /start_profile, GET /metrics, GET /metrics"},
		{"no counters before", false, "", metricsAre(8), "", 0, nil, "GET /metrics"},
		{"no counters after", false, metricsAre(3), "", "", 0, []string{
			"the server's counters could not be read after the run: reading the server's counters: no answer from " +
				"http://127.0.0.1:1/metrics within 5s",
		}, "GET /metrics, GET /metrics"},
		{"counters that fell", false, metricsAre(3), metricsAre(2), "", 0, []string{fell, fell},
			"GET /metrics, GET /metrics"},
		{"other counters", false, "vllm:num_requests_running 3\n", metricsAre(2), "", 0, nil,
			"GET /metrics, GET /metrics"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tgt, err := target.New(target.Options{BaseURL: "http://127.0.0.1:1", APIKey: "sesame"})
				if err != nil {
					t.Fatal(err)
				}
				var asked []string
				pages := []string{c.before, c.after}
				client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					asked = append(asked, r.Method+" "+r.URL.Path)
					if r.Method == http.MethodPost {
						answer := &http.Response{StatusCode: http.StatusOK,
							Body: io.NopCloser(strings.NewReader(c.profiler)), Request: r}
						if c.profiler != "" {
							answer.StatusCode, answer.Status = http.StatusNotFound, "Not Found"
						}
						return answer, nil
					}
					page := pages[0]
					pages = pages[1:]
					return pageAt(func(int) string { return page }).serve(time.Now(), r)
				})}
				s := NewServer(client, []*target.Target{tgt}, Pages{}, Profiling{On: c.profile})
				notes := s.Begin(t.Context())
				var end metrics.End
				notes = append(notes, s.End(&end)...)
				notes = append(notes, s.Close(unheard)...)
				if !slices.Equal(notes, c.notes) {
					t.Errorf("notes %q, want %q", notes, c.notes)
				}
				if got := strings.Join(asked, ", "); got != c.asked {
					t.Errorf("asked %q, want %q", got, c.asked)
				}
				known := end.SpecDecode != nil && end.SpecDecode.DraftTokens == c.moved && end.Diffusion != nil &&
					end.Diffusion.CommittedTokens == c.moved
				if c.moved > 0 && !known || c.moved == 0 && (end.SpecDecode != nil || end.Diffusion != nil) {
					t.Errorf("counters %+v and %+v, want %d", end.SpecDecode, end.Diffusion, c.moved)
				}
			})
		})
	}
	if notes := (*Server)(nil).Close(unheard); notes != nil {
		t.Errorf("no server: %q", notes)
	}
}

// Counters that take their time do not keep the run waiting, and neither does a profiler that does not start for ever.
func TestServerTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tgt, err := target.New(target.Options{BaseURL: "http://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		hangs := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		for _, c := range []struct {
			profile             bool
			begin, end, closing time.Duration
		}{
			{false, 0, 5 * time.Second, 0},
			{true, startTimeout, 5 * time.Second, 0},
		} {
			s := NewServer(hangs, []*target.Target{tgt}, Pages{}, Profiling{On: c.profile})
			for i, do := range []func(){func() { s.Begin(t.Context()) }, func() { s.End(&metrics.End{}) },
				func() { s.Close(unheard) }} {
				began, want := time.Now(), []time.Duration{c.begin, c.end, c.closing}[i]
				if do(); time.Since(began) != want {
					t.Errorf("profile %t, step %d took %s, want %s", c.profile, i, time.Since(began), want)
				}
			}
		}
	})
}
