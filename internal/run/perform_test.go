package run

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/files"
	"benchtop/internal/run/watch"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// reserved are the files of a run in a directory of the test.
func reserved(t *testing.T, plan metrics.Plan) *files.Saving {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s, err := (&files.Options{Result: true, Dir: filepath.Join(t.TempDir(), "results"), Name: "r.json"}).Reserve(plan)
	assert.Fine(t, err)
	t.Cleanup(func() { _ = s.Journal.Close() })
	return s
}

// gone puts a file in the place of the directory of a run's files, which stops root as well.
func gone(t *testing.T, s *files.Saving) {
	t.Helper()
	dir := filepath.Dir(s.Path)
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Error(err)
	}
}

// small is a run of a few requests, a tenth of a second apart.
func small(t *testing.T, plan metrics.Plan, requests int) *Config {
	t.Helper()
	plan.Rate, plan.Burstiness, plan.Requests = 10, math.Inf(1), requests
	c := simulated(t, plan, 1)
	var offsets []time.Duration
	for i := range requests {
		offsets = append(offsets, time.Duration(i)*100*time.Millisecond)
	}
	c.Load.Schedule = shape.At(offsets)
	return c
}

// do performs a run and closes it.
func do(t *testing.T, c *Config) (*Run, Outcome) {
	t.Helper()
	r := assert.Must(New(*c))(t)
	o := r.Do()
	o.Beside()
	r.Close()
	return r, o
}

// texts are those of the log of a run.
func texts(t *testing.T, r *Run) []string {
	t.Helper()
	return metrics.Each(gathered(t, r).Events, func(e metrics.LogEntry) string {
		return string(e.Level) + ": " + e.Text
	})
}

// A run saves its result and journal in their place, and names what stands beside them.
func TestSavedWhereItShouldBe(t *testing.T) {
	plan := metrics.Plan{ModelID: "m"}
	place := reserved(t, plan)
	synctest.Test(t, func(t *testing.T) {
		c := small(t, plan, 3)
		c.Files, c.Notes, c.Remarks, c.Plan.Load = place, []string{"a note"}, []string{"a remark"}, "10 req/s"
		c.Pictures = func(_ metrics.Report, events event.Events, path string) (written, warnings []string) {
			if path != place.Path || events == nil {
				t.Errorf("pictures beside %q", path)
			}
			return []string{"r.png"}, []string{"no room for a second picture"}
		}
		r, o := do(t, c)
		if o.Err != nil || !o.Saved || o.Path != place.Path || o.Report.Conclusion != metrics.Fine ||
			o.Report.Completed != 3 {
			t.Errorf("saved %t at %q, %d requests, conclusion %d: %v", o.Saved, o.Path, o.Report.Completed,
				o.Report.Conclusion, o.Err)
		}
		if b := o.Beside(); !slices.Equal(b.Paths, []string{"r.png"}) ||
			!slices.Equal(b.Warnings, []string{"no room for a second picture"}) {
			t.Errorf("beside it %q, warnings %q", b.Paths, b.Warnings)
		}
		assert.Equal(t, assert.Must(files.ReadReport(place.Path))(t).Completed, 3, "the file")
		assert.Fine(t, assert.Failure(os.Stat(place.JournalName+".gz")))
		if s := r.View().Snapshot(); s.SavePath != place.Path || s.SaveError != "" || s.Report == nil {
			t.Errorf("the screen says %q, %q", s.SavePath, s.SaveError)
		}
		<-r.Saved()
	})
	run := assert.Must(files.ReadReport(place.Path))(t)
	log := metrics.Each(run.Events, func(e metrics.LogEntry) string { return string(e.Level) + ": " + e.Text })
	if want := []string{"warn: a note", "info: a remark", "info: 10 req/s"}; len(log) < 3 ||
		!slices.Equal(log[:3], want) {
		t.Errorf("the log is %q, want %q first", log, want)
	}
}

// A result that finds no room in its place is saved elsewhere, at last on standard output; the run has failed all the
// same.
func TestSavedElsewhere(t *testing.T) {
	for _, c := range []struct {
		name      string
		elsewhere bool
		resort    bool
		gpus      string
		want      string // the path, but for its directory
		warnings  []string
	}{
		{"elsewhere", true, true, "", "r.json", nil},
		{"on standard output", false, true, "", files.Stdout, nil},
		{"nowhere, and no GPU", false, false, "all", ".", []string{"--gpu all: no GPU data: a test has none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := metrics.Plan{ModelID: "m", GPUs: c.gpus}
			place := reserved(t, plan)
			if !c.elsewhere {
				t.Setenv("XDG_STATE_HOME", filepath.Dir(place.Path))
				t.Setenv("TMPDIR", filepath.Dir(place.Path))
			}
			synctest.Test(t, func(t *testing.T) {
				config, out := small(t, plan, 3), &bytes.Buffer{}
				config.Files = place
				if c.resort {
					config.LastResort = out
				}
				config.Drawn = func() { gone(t, place) }
				r, o := do(t, config)
				if o.Err == nil || !strings.HasPrefix(o.Err.Error(), "saving: ") || o.Saved ||
					o.Report.Conclusion != metrics.RunFailed {
					t.Errorf("saved %t, conclusion %d: %v", o.Saved, o.Report.Conclusion, o.Err)
				}
				if filepath.Base(o.Path) != c.want || (out.Len() > 0) != (c.want == files.Stdout) ||
					!slices.Equal(o.Warnings, c.warnings) {
					t.Errorf("saved at %q, %d bytes on standard output, warnings %q", o.Path, out.Len(), o.Warnings)
				}
				if s := r.view.Snapshot(); s.SaveError != "see the report" {
					t.Errorf("the screen says %q", s.SaveError)
				}
			})
		})
	}
}

// A bug while a run is finished is an error that says where the measurement is, and the run has failed.
func TestBugInTheMiddle(t *testing.T) {
	for _, saved := range []bool{true, false} {
		plan, want := metrics.Plan{ModelID: "m"}, "benchtop failed while finishing the run: a bug; nothing was saved\n"
		var place *files.Saving
		if saved {
			place = reserved(t, plan)
			want = "benchtop failed while finishing the run: a bug; measurements saved in " +
				place.JournalName + " (benchtop report " + place.JournalName + ")\n"
		}
		synctest.Test(t, func(t *testing.T) {
			c := small(t, plan, 3)
			c.Files, c.Drawn = place, func() { panic("a bug") }
			r, o := do(t, c)
			if o.Err == nil || !strings.HasPrefix(o.Err.Error(), want) || o.Saved ||
				o.Report.Conclusion != metrics.RunFailed {
				t.Errorf("saved %t, conclusion %d: %v", o.Saved, o.Report.Conclusion, o.Err)
			}
			if saved {
				if text, err := os.ReadFile(place.JournalName); err != nil || bytes.Count(text, []byte("\n")) < 4 {
					t.Errorf("the journal is %q, %v", text, err)
				}
			}
			<-r.Saved()
			_ = r.journal.Close()
		})
	}
}

// A run whose prompts end in an error has failed for that reason.
func TestBrokenPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := small(t, metrics.Plan{}, 3)
		next := c.Prompts.Next
		c.Prompts.Next = func() (datasets.Conversation, error) {
			defer func() {
				next = func() (datasets.Conversation, error) {
					return datasets.Conversation{}, errors.New("the data set is broken")
				}
			}()
			return next()
		}
		_, o := do(t, c)
		if o.Err == nil || !strings.Contains(o.Err.Error(), "the data set is broken") ||
			o.Report.Conclusion != metrics.RunFailed {
			t.Errorf("conclusion %d: %v", o.Report.Conclusion, o.Err)
		}
		if why := o.Report.Interrupted; why == nil || !strings.Contains(why.Reason, "the data set is broken") {
			t.Errorf("interrupted %+v", why)
		}
	})
}

// The probes beside the load, and what the server's counters say, are in the end of the run.
func TestEndOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := small(t, metrics.Plan{}, 20)
		c.Load.ProbeRate, c.Load.Probe = 2, datasets.Turn{Text: "Hi", MaxTokens: 1}
		var over atomic.Bool // after the last request the server cannot be reached any more
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if over.Load() {
				return nil, errors.New("no route")
			}
			return page(r, "vllm:num_requests_running 3\n"), nil
		})}
		tgt := assert.Must(target.New(target.Options{BaseURL: "http://127.0.0.1:1"}))(t)
		c.Server, c.Share = watch.NewServer(client, []*target.Target{tgt}, watch.Pages{}, watch.Profiling{}),
			func(float64) float64 { return 1 }
		c.Server.Begin(t.Context())
		c.Drawn = func() { over.Store(true) }
		r := begin(t, c)
		run := measureAll(t, r)
		if run.Probes == nil || run.Probes.Completed == 0 {
			t.Errorf("probes %+v", run.Probes)
		}
		if len(run.Server) == 0 || run.Stamps == nil || run.Unsent != 0 {
			t.Errorf("%d looks at the server, stamps %v, %d unsent", len(run.Server), run.Stamps, run.Unsent)
		}
		if all := texts(t, r); !slices.ContainsFunc(all, func(s string) bool {
			return strings.HasPrefix(s, "warn: the server's counters could not be read after the run: ")
		}) {
			t.Errorf("the log is %q", all)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func page(r *http.Request, text string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Status: "OK", Body: io.NopCloser(strings.NewReader(text)),
		Request: r}
}

// A plan that has no JSON form, and a load without a target, are errors before the run.
func TestNewRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := small(t, metrics.Plan{}, 1)
		c.Plan.Percentiles = []float64{math.NaN()}
		assert.Complains(t, assert.Failure(New(*c)), "NaN")
		c = small(t, metrics.Plan{}, 1)
		c.Load.ProbeRate = -1
		assert.Complains(t, assert.Failure(New(*c)), "probe rate -1")
	})
}

// The answer of the run so far is computed while it can be seen.
func TestJudgedWhileSeen(t *testing.T) {
	for _, drawn := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := small(t, metrics.Plan{Goodput: demoSLO}, 60)
			c.Terminal = &noTerminal{drawn: drawn}
			r := begin(t, c)
			var before, after bool
			time.AfterFunc(judgeEvery-time.Millisecond, func() { before = r.view.Snapshot().Answer != nil })
			time.AfterFunc(judgeEvery+time.Millisecond, func() { after = r.view.Snapshot().Answer != nil })
			measureAll(t, r)
			if before || after != drawn {
				t.Errorf("drawn %t: judged before %t, after %t", drawn, before, after)
			}
		})
	}
}

// A person hears at once of an event that matters: by the dashboard, or by a line of the terminal.
func TestAnnounce(t *testing.T) {
	for _, drawn := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := journalOn(t, &readDisk{})
			terminal := &noTerminal{drawn: drawn}
			r.config.Terminal = terminal
			r.announce(metrics.Warn, "it happened")
			if (len(terminal.said) == 0) != drawn || !slices.Equal(texts(t, r), []string{"warn: it happened"}) {
				t.Errorf("drawn %t: the terminal says %q, the log %q", drawn, terminal.said, texts(t, r))
			}
			_ = r.journal.Close()
		})
	}
}

// A server may find a query before each document in its cache, and the tokens of a recording that is sent again.
func TestKnownShare(t *testing.T) {
	for name, want := range map[string]float64{"openai": 0.25, "openai-embeddings": 0.25, "vllm-rerank": 1,
		"openai-audio": 1} {
		traits := protocol.Named(name).Traits()
		assert.Equal(t, knownShare(&traits, func(float64) float64 { return 0.25 })(0), want, "%s", name)
	}
}
