package simulator

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// faultFor returns the fault of the request with that number: the one in its header, else the first of the profile that
// hits it, else the zero value.
func (s *Server) faultFor(r *http.Request, number int) (Fault, *apiError) {
	if asked := r.Header.Get(FaultHeader); asked != "" {
		f, err := ParseFault(asked)
		switch {
		case err != nil:
		case f.chooses():
			err = errors.New("every, from, to and share are not allowed in a header")
		case f.Kind == FaultResetAccept:
			err = errors.New("reset_accept is not allowed in a header; set it when the server starts")
		}
		if err != nil {
			return Fault{}, badRequest(FaultHeader, "%s: %v", FaultHeader, err)
		}
		return f, nil
	}
	for i, f := range s.profile.Faults {
		if f.Kind != FaultResetAccept && f.hits(number, s.faultSeed(i)) {
			return f, nil
		}
	}
	return Fault{}, nil
}

// faultSeed gives each fault of the profile draws of its own.
func (s *Server) faultSeed(place int) uint64 { return s.profile.Seed + uint64(place)<<32 + 3 }

// inject injects a fault before the answer, and leaves the rest to serve.
func (s *Server) inject(w http.ResponseWriter, r *http.Request, a *arrival, serve generator) *apiError {
	switch f := a.fault; f.Kind {
	case FaultResetHeader:
		disconnect(w, "", true)
		return nil
	case FaultCloseHeader:
		disconnect(w, "", false)
		return nil
	case FaultNotHTTP:
		disconnect(w, "SSH-2.0-not_a_web_server\r\n", false)
		return nil
	case FaultStatus:
		return refusal(w, int(f.Arg))
	case FaultRefuse:
		p := s.port.Load()
		if p == nil {
			return broken(errors.New("the fault refuse needs a port that the simulator can close"))
		}
		p.shut(f.duration())
		w.Header().Set("Connection", "close")
	case FaultSlowHeaders:
		switch err := s.engine.delay(r.Context(), f.duration()); {
		case err == errStopped:
			return unavailable(err)
		case err != nil:
			return nil // the client is gone
		}
	}
	return serve(w, r, a)
}

// refusal is an answer with a status that was asked for.
func refusal(w http.ResponseWriter, status int) *apiError {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	return &apiError{status: status, message: "simulated fault: " + statusText(status)}
}

// disconnect takes the connection from the HTTP library, writes some last bytes, and closes it: with a reset if abrupt,
// so that the client's next read fails, else in order. If the connection cannot be hijacked, the library cuts it.
func disconnect(w http.ResponseWriter, last string, abrupt bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_, _ = conn.Write([]byte(last)) // the client may be gone
	if abrupt {
		reset(conn)
		return
	}
	_ = conn.Close()
}

// reset closes a connection with a reset, if the network supports it.
func reset(conn net.Conn) {
	if c, ok := conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = c.SetLinger(0)
	}
	_ = conn.Close()
}

// delay waits for d, or for ever if d is 0. The error is that of ctx, or errStopped.
func (e *engine) delay(ctx context.Context, d time.Duration) error {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.quit:
		return errStopped
	}
}
