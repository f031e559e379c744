//go:build unix

package cli

import (
	"net"
	"net/http"
	"os"
	"testing"
)

// A server that is started for the measurement is stopped after it.
func TestStartedServer(t *testing.T) {
	self := os.Args[0]
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	serve := self + " simulate --port " + port
	t.Setenv(asProgram, "1")
	benchtop("latency", "--serve-cmd", serve, "--num-iters", "2", "--num-iters-warmup", "0", "--batch-size", "2", "--output-len", "2").
		expect(t, exitFine, "server command: ", "Avg latency: ")
	if _, err := http.Get("http://127.0.0.1:" + port + "/health"); err == nil {
		t.Error("the server still answers")
	}
}
