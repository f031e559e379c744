package launch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"benchtop/internal/telemetry"
)

const (
	askEvery = 50 * time.Millisecond
	askLimit = time.Second // for one answer
)

// Times are how long a server took from its start until it listened and until it was healthy; 0 for not yet. They are
// exact to 50 ms.
type Times struct{ Listening, Healthy time.Duration }

// Times returns what Ready has seen.
func (s *Server) Times() Times {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Times{s.listening, s.healthy}
}

// Client is for requests to the server beside a load. It takes any certificate, since Ready has checked which process
// listens.
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

// Ready waits until the server answers GET /health with 200. A server without that path is ready when it answers GET
// /v1/models. The error says how far the server came within the limit, or how it ended.
func (s *Server) Ready(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.o.Ready)
	defer cancel()
	client := s.Client()
	client.Timeout = askLimit
	defer client.CloseIdleConnections()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	answered := "" // the last time that it answered
	for {
		answer, healthy := s.ask(limited, client)
		answered = cmp.Or(answer, answered)
		select {
		case <-s.died:
			return s.Err()
		default:
		}
		if healthy {
			return s.ours()
		}
		select {
		case <-tick.C:
		case <-s.died:
		case <-limited.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return s.late(answered)
		}
	}
}

// ask asks for the health once, and notes when the server listened. The answer is "" if there is none.
func (s *Server) ask(ctx context.Context, client *http.Client) (answer string, healthy bool) {
	if s.Times().Listening == 0 {
		if !s.answers(ctx) {
			return "", false
		}
		s.note(&s.listening)
	}
	status, answer := s.get(ctx, client, "/health")
	switch status {
	case http.StatusOK:
		healthy = true
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		status, answer = s.get(ctx, client, "/v1/models")
		healthy = status == http.StatusOK || status == http.StatusUnauthorized || status == http.StatusForbidden
	}
	if healthy {
		s.note(&s.healthy)
	}
	return answer, healthy
}

func (s *Server) note(field *time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*field = time.Since(s.began)
}

func (s *Server) get(ctx context.Context, client *http.Client, path string) (status int, answer string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<10)
	return resp.StatusCode, fmt.Sprintf("%d to GET %s", resp.StatusCode, path)
}

// runners start processes that are not their descendants, such as a container.
var runners = []string{"docker", "podman", "nerdctl", "kubectl", "ssh", "srun", "systemd-run"}

// ours finds out whether the server that answers is the one that was started.
func (s *Server) ours() error {
	if slices.Contains(runners, filepath.Base(s.o.Command[0])) || !foreign(s.guard.Process.Pid, s.at) {
		return nil
	}
	return fmt.Errorf("another process answers at %s%s, not the server that was started; give the server command "+
		"another --port", s.address, holder(s.at))
}

// late says how far a server came that is not ready in time.
func (s *Server) late(answer string) error {
	listens := s.Times().Listening != 0
	var b strings.Builder
	fmt.Fprintf(&b, "the server is not ready after %s: it runs, ", s.o.Ready)
	switch {
	case answer != "":
		fmt.Fprintf(&b, "but answers %s", answer)
	case listens:
		fmt.Fprintf(&b, "and takes connections at %s, but does not answer GET /health", s.address)
	default:
		fmt.Fprintf(&b, "but nothing listens at %s", s.address)
		if elsewhere := ports(descendants(s.guard.Process.Pid)); len(elsewhere) > 0 {
			fmt.Fprintf(&b, "; its processes listen on port %s, so give the server command the --port that is meant",
				strings.Trim(fmt.Sprint(elsewhere), "[]"))
		}
	}
	return errors.New(b.String() + s.log.last())
}

// resetLimit is the time for a server to let go of its caches.
const resetLimit = 30 * time.Second

// ResetCaches has the server at a base URL empty its caches, and checks that it did. The client brings headers and TLS.
func ResetCaches(ctx context.Context, client *http.Client, address string) error {
	limited, cancel := context.WithTimeout(ctx, resetLimit)
	defer cancel()
	if err := telemetry.ResetCaches(limited, client, address); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s cannot reset its caches: %w", address, err)
	}
	return ctx.Err()
}
