package cli

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

func TestMetronomeUsage(t *testing.T) {
	benchtop("metronome", "now", "--port", "70000", "--hots", "x").expect(t, session.ExitUsage,
		"--port 70000: ports are from 1 to 65535", "--hots: unknown flag (did you mean host?)",
		`metronome takes no arguments, got ["now"]`)
	benchtop("metronome", "--help").expect(t, session.ExitFine, "usage: benchtop metronome [flags]",
		"--exit-with-stdin", "/ttft=50ms/itl=10ms/v1/completions")
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	benchtop("metronome", "--port", port).expect(t, session.ExitFailed, "cannot listen on 127.0.0.1:"+port,
		"choose another with --port")
}

// The metronome prints its address, answers, and ends without an error when its input ends, even during an answer.
func TestMetronome(t *testing.T) {
	r := benchtop("metronome", "--port", "0", "--exit-with-stdin") // its input has ended
	if r.code != session.ExitFine || r.stderr != "" || !strings.HasPrefix(r.stdout, listening+"http://127.0.0.1:") {
		t.Errorf("exit code %d, standard output %q, standard error %q", r.code, r.stdout, r.stderr)
	}
	url := metronomed(t)
	post := func(path, body string) *http.Response {
		t.Helper()
		response := assert.Must(http.Post(url+path, "application/json", strings.NewReader(body)))(t)
		t.Cleanup(func() { response.Body.Close() })
		return response
	}
	answer, err := io.ReadAll(post("/v1/completions", `{"prompt":"x","max_tokens":3,"stream":true}`).Body)
	if err != nil || bytes.Count(answer, []byte("data: {")) < 3 || !bytes.Contains(answer, []byte("data: [DONE]")) {
		t.Errorf("answer %q, %v", answer, err)
	}
	endless := post("/itl=1h/v1/completions", `{"prompt":"x","max_tokens":3,"stream":true}`)
	assert.Fine(t, assert.Failure(endless.Body.Read(make([]byte, 1))))
}
