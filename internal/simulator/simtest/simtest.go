// Package simtest serves a simulator to tests in memory.
package simtest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"benchtop/internal/simulator"
	"benchtop/internal/simulator/pipetest"
)

// Serve serves a simulated server on a network in memory until it is stopped.
func Serve(t testing.TB,
	p simulator.Profile) (dial func(ctx context.Context, network, address string) (net.Conn, error), stop func()) {
	server := simulator.New(p)
	listener, connect := pipetest.Pipe()
	web := server.HTTPServer()
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	return func(ctx context.Context, _, _ string) (net.Conn, error) { return connect(ctx) }, func() {
		if err := web.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
}
