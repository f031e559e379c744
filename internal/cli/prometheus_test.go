package cli

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// The dashboard for Grafana is in the program.
func TestDocsGrafana(t *testing.T) {
	if got := benchtop("docs", "grafana.json"); got.code != session.ExitFine || !json.Valid([]byte(got.stdout)) {
		t.Error(got.code, got.stderr)
	}
}

// The page is there while the run is on, and gone behind it; a port that is taken ends the command at once.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	url := simulated(t, nil)
	taken := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := taken.Addr().String()
	args := []string{"serve", url, "--prometheus", address, "--random-input-len", "8", "--random-output-len", "4",
		"--num-prompts", "20", "--request-rate", "20", "--no-tui", "--no-save", "--label", `a"b`}
	benchtop(args...).expect(t, session.ExitUsage, "--prometheus "+address+": another program listens there")
	taken.Close()
	over := make(chan result)
	go func() { over <- benchtop(args...) }()
	counted := regexp.MustCompile(`benchtop_requests_completed_total\{run="a_b-[^"]*"\} [1-9]`)
	for {
		select {
		case r := <-over:
			r.expect(t, session.ExitFine, "live metrics on http://"+address+"/metrics")
			t.Fatal("no page has shown a request of this run")
		default:
		}
		time.Sleep(10 * time.Millisecond)
		answer, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			continue // not there yet
		}
		page, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if counted.Match(page) {
			break
		}
	}
	r := <-over
	r.expect(t, session.ExitFine, "live metrics on http://"+address+"/metrics")
	if _, err := http.Get("http://" + address + "/metrics"); err == nil {
		t.Error("the page is there after the command")
	}
}
