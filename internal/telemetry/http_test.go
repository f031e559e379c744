package telemetry

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// served is the URL of a server with one answer.
func served(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func scrape(t *testing.T, answer http.HandlerFunc) (Counters, error) {
	t.Helper()
	return Scrape(t.Context(), Page{Client: http.DefaultClient, URL: served(t, answer) + "/metrics"})
}

func TestScrape(t *testing.T) {
	ci.SkipUnderRace(t)
	pack := func(w http.ResponseWriter, page string) {
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		_, _ = io.WriteString(z, page)
		_ = z.Close()
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		drafts int // -1 for none
		fails  string
	}{
		{"a page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, twoEngines) }, 120, ""},
		{"a packed page", func(w http.ResponseWriter, _ *http.Request) { pack(w, twoEngines) }, 120, ""},
		{"a page without counters",
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x_total 3\n") }, -1, ""},
		{"an empty page", func(http.ResponseWriter, *http.Request) {}, -1, ""},
		{"HTML by its look", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "\n\n<!doctype html>\n")
		}, -1, "a web page"},
		{"missing", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"detail":`+"\x1b[31m\n"+`"Not Found"}`, http.StatusNotFound)
		}, -1, `404 Not Found: {"detail": [31m "Not Found"}`},
		{"not really packed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, twoEngines)
		}, -1, "gzip: invalid header"},
		{"huge when unpacked", func(w http.ResponseWriter, _ *http.Request) {
			pack(w, strings.Repeat(" ", longestPage+1))
		}, -1, "longer than 50 MB"},
	} {
		got, err := scrape(t, c.answer)
		assert.Fails(t, c.name, err, c.fails)
		n := -1
		if got.spec != nil {
			n = got.spec[partDrafts]
		}
		if n != c.drafts {
			t.Errorf("%s: %d drafts, want %d", c.name, n, c.drafts)
		}
	}
}

// A server or proxy may pack its answer although the client did not ask for it.
func TestScrapePackedUnasked(t *testing.T) {
	url := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			t.Error("the client asked for a packed answer")
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, twoEngines)
		_ = z.Close()
	})
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	c, err := Scrape(t.Context(), Page{Client: client, URL: url})
	if err != nil || c.spec[partDrafts] != 120 {
		t.Errorf("%+v, %v; want 120 drafts", c.spec, err)
	}
}

func TestProfiler(t *testing.T) {
	var asked []string
	url := served(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body))
		switch r.URL.Path {
		case "/a/stop_profile":
			http.Error(w, "no trace was started", http.StatusConflict)
		case "/b/start_profile":
			http.NotFound(w, r)
		}
	})
	assert.Fine(t, Profiler(t.Context(), http.DefaultClient, url+"/a/", "start"))
	err := Profiler(t.Context(), http.DefaultClient, url+"/a", "stop")
	assert.Fails(t, "a conflict", err, "asking the server to stop its profiler: 409 Conflict: no trace was started")
	err = Profiler(t.Context(), http.DefaultClient, url+"/b", "start")
	assert.Fails(t, "no profiler", err, "404 Not Found: 404 page not found; a server offers its profiler only if")
	want := "POST /a/start_profile |POST /a/stop_profile |POST /b/start_profile "
	if got := strings.Join(asked, "|"); got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}
