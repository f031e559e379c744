package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// get sends a request and follows where the answer points, itself rather than by http.Client: that would take the token
// along to the hosts below the hub's. The caller closes the answer's body.
func (r *Remote) get(ctx context.Context, method string, to *url.URL) (*http.Response, error) {
	for range maxRedirects + 1 {
		resp, err := r.once(ctx, method, to)
		if err != nil {
			return nil, err
		}
		if !redirects(resp.StatusCode) {
			return resp, nil
		}
		resp.Body.Close()
		next, err := resp.Location()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s answers status %d without an address to go on to", to.Host, resp.StatusCode)
		case next.Scheme != "https" && next.Scheme != to.Scheme:
			return nil, fmt.Errorf("%s points on to an address of kind %q, which is not safe", to.Host, next.Scheme)
		}
		to = next
	}
	return nil, fmt.Errorf("%s points from one address to the next, more than %d times", r.endpoint.Host, maxRedirects)
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

var (
	errNoConnection = fmt.Errorf("no connection within %v; is the network up? HF_HUB_OFFLINE=1 goes without", connectWithin)
	errHungUp       = errors.New("the connection was closed without an answer; try again")
	errSilent       = fmt.Errorf("nothing came for %v; try again", silentFor)
)

// unreachable is why the hub could not be reached.
type unreachable struct{ error }

// once sends one request and watches over the wait for its answer, until the body is closed.
func (r *Remote) once(ctx context.Context, method string, to *url.URL) (*http.Response, error) {
	hub := to.Host == r.endpoint.Host
	if lost := r.lost.Load(); hub && lost != nil {
		return nil, lost.error
	}
	caller := ctx
	var connected atomic.Bool
	ctx, cancel := context.WithCancelCause(ctx)
	connecting := time.AfterFunc(connectWithin, func() { cancel(errNoConnection) })
	silent := time.AfterFunc(connectWithin+silentFor, func() { cancel(errSilent) })
	stop := func() {
		connecting.Stop()
		silent.Stop()
		cancel(nil)
	}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected.Store(true)
		connecting.Stop()
		silent.Reset(silentFor)
	}})
	req, err := http.NewRequestWithContext(traced, method, to.String(), nil)
	if err != nil {
		stop()
		return nil, fmt.Errorf("the address on %s cannot be asked for", to.Host)
	}
	req.Header.Set("User-Agent", "benchtop")
	if r.token != "" && to.Scheme == r.endpoint.Scheme && to.Host == r.endpoint.Host {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	client := *r.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	client.Timeout = 0 // would cut a file that is coming in well
	resp, err := client.Do(req)
	if err != nil {
		err = why(ctx, err)
		stop()
		if hub && !connected.Load() && caller.Err() == nil {
			r.lost.Store(&unreachable{err})
		}
		return nil, err
	}
	connecting.Stop()
	silent.Reset(silentFor)
	resp.Body = &watchedBody{ReadCloser: resp.Body, silent: silent, stop: stop,
		why: func(err error) error { return why(ctx, err) }}
	return resp, nil
}

// why is the reason behind a failed wait.
func why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // without the address, which may hold a signature
	}
	if err == io.EOF {
		return errHungUp
	}
	return err
}

// watchedBody is a body that fails when nothing comes any more.
type watchedBody struct {
	io.ReadCloser
	silent *time.Timer
	stop   func()
	why    func(error) error
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.silent.Reset(silentFor)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.why(err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	b.stop()
	return err
}
