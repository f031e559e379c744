package cli

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/files"
	"benchtop/internal/session"
	"benchtop/metrics"
)

// faulty is a server with a fault in some requests, which is gone for a while when so many wait for it.
type faulty struct {
	address string
	holds   int // requests, all of which are cut when the server goes

	mu     sync.Mutex
	server *http.Server
	ends   map[string]string // by the id of the request: the kind of its failure, "" for an answer
	number int               // of the last request
	held   int
}

const goneFor = 700 * time.Millisecond

// listen serves, at the same address as before.
func (f *faulty) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		t.Error(err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.address, f.server = l.Addr().String(), &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		f.serve(t, w, r)
	})}
	go func(s *http.Server) { _ = s.Serve(l) }(f.server)
}

// arrive numbers a request, and files how it will end. A request that comes a second time has its number.
func (f *faulty) arrive(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if kind, again := f.ends[id]; again {
		return kind
	}
	f.number++
	kind := map[int]string{
		3: "http_status 503", 5: "http_status 429", 7: "reset", 9: "truncated", 11: "error_in_stream", 13: "malformed",
		15: "no_output", 17: "stall", 19: "reset before", 21: "truncated",
	}[f.number]
	if f.number > 140 && f.held < f.holds {
		f.held++
		kind = "held"
	}
	f.ends[id] = kind
	return kind
}

func (f *faulty) serve(t *testing.T, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/completions") {
		http.NotFound(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	kind := f.arrive(r.Header.Get("X-Request-Id"))
	head := func(text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
	}
	const chunk, last = "data: {\"choices\":[{\"text\":\"a \"}]}\n\n",
		"data: {\"choices\":[{\"text\":\"b \",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n"
	cut := func(abrupt bool) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if abrupt {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		_ = conn.Close()
	}
	switch kind {
	case "http_status 503", "http_status 429":
		status := 0
		_, _ = fmt.Sscanf(kind, "http_status %d", &status)
		http.Error(w, "busy", status)
	case "reset", "truncated":
		head(chunk)
		time.Sleep(30 * time.Millisecond) // the client reads the chunk before the reset throws it away
		cut(kind == "reset")
	case "reset before":
		cut(true)
	case "error_in_stream":
		head(chunk + "data: {\"error\":{\"message\":\"engine fell\"}}\n\n")
	case "malformed":
		head(chunk + "data: {broken\n\ndata: [DONE]\n\n")
	case "no_output":
		head("data: [DONE]\n\n")
	case "stall":
		head(chunk)
		<-r.Context().Done()
	case "held":
		head(chunk)
		f.mu.Lock()
		goes := f.held == f.holds
		f.mu.Unlock()
		if goes {
			go f.restart(t)
		}
		<-r.Context().Done()
	default:
		head(chunk)
		_, _ = io.WriteString(w, last)
	}
}

// restart cuts all connections and lets nobody in for a while.
func (f *faulty) restart(t *testing.T) {
	time.Sleep(100 * time.Millisecond) // the last chunk has come
	_ = f.server.Close()
	time.Sleep(goneFor)
	f.listen(t)
}

// Each failure is counted by its kind, as often as the server caused it, also while the server is gone.
func TestFaultsAreCounted(t *testing.T) {
	t.Parallel()
	const requests = 300
	// It goes when all users wait for it: what else it would cut may be answered, as far as it knows.
	f := &faulty{address: "127.0.0.1:0", holds: 6, ends: map[string]string{}}
	f.listen(t)
	dir := t.TempDir()
	r := benchtop(append(strings.Fields("serve --model m --request-rate 80 --burstiness inf --max-concurrency 6 "+
		"--stall-timeout 1s --save-result --result-filename o.json "+shortPrompts), "--base-url",
		"http://"+f.address, "--num-prompts", fmt.Sprint(requests), "--result-dir", dir)...)
	want := map[string]int{}
	f.mu.Lock()
	_ = f.server.Close()
	for _, kind := range f.ends {
		switch kind {
		case "held":
			kind = "truncated"
		case "reset before":
			kind = "reset"
		}
		want[kind]++
	}
	want["connect"] = requests - len(f.ends)
	f.mu.Unlock()
	for _, name := range []string{"o.json", "o.jsonl.gz"} {
		report := assert.Must(files.ReadReport(filepath.Join(dir, name)))(t)
		got := map[string]int{"": report.Completed}
		for _, x := range report.Failures {
			kind := string(x.Kind)
			if x.Kind == metrics.FailedStatus {
				kind += fmt.Sprint(" ", x.Status)
			}
			got[kind] += x.Count
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s counts %v, the server %v", name, got, want)
		}
	}
	r.expect(t, session.ExitFine, fmt.Sprintf("%d of %d requests failed", requests-want[""], requests))
}
