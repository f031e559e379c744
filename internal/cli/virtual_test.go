package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/internal/simulator/pipetest"
	"benchtop/internal/spec"
	"benchtop/loadgen/target"
)

// virtual is a recording server on a network in memory, in virtual time.
type virtual struct {
	recording
	dial target.DialFunc
}

// inVirtualTime has do perform command lines of serve against a simulated server; answer, if not nil, may answer first
// by returning true. Only the sockets are left out, and what serve does before it prepares a run.
func inVirtualTime(t *testing.T, p simulator.Profile, answer func(w http.ResponseWriter, r *http.Request) bool,
	do func(t *testing.T, server *virtual)) {
	t.Helper()
	dir := t.TempDir() // in which no socket for other terminals can be
	assert.Fine(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("benchtop-%d", os.Getuid())), nil, 0o600))
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", dir)
	// or the goroutine that waits for signals is one of the bubble
	_, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	stop()
	synctest.Test(t, func(t *testing.T) {
		inner := simulator.New(p)
		listener, connect := pipetest.Pipe()
		server := &virtual{dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return connect(ctx) }}
		web := &http.Server{Handler: server.handler(inner, answer)}
		served := make(chan error, 1)
		go func() { served <- web.Serve(listener) }()
		do(t, server)
		if err := web.Close(); err != nil {
			t.Error(err)
		}
		<-served
		if err := inner.Close(); err != nil {
			t.Error(err)
		}
	})
}

// serve performs a command line of serve.
func (v *virtual) serve(t *testing.T, args ...string) result {
	t.Helper()
	var out, said bytes.Buffer
	env := &session.Environment{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said}
	o := spec.New()
	if err := o.Parse(append([]string{"--base-url", "http://simulated:80", "--pacer", "timer", "--timestamps", "user",
		"--gpu", "none"}, args...)); err != nil {
		return result{env.Fail(session.ExitUsage, err), out.String(), said.String()}
	}
	var err error
	if o.Server.Target, err = target.New(target.Options{BaseURL: o.Server.BaseURLs[0], Dial: v.dial}); err != nil {
		t.Fatal(err)
	}
	code := env.Perform(&o.Screen, nil,
		func(ctx context.Context) (*session.Run, error) {
			run, err := session.Prepare(ctx, env, o)
			if err == nil {
				run.Unwatched = true
			}
			return run, err
		})
	return result{code, out.String(), said.String()}
}
