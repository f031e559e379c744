package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Bounds on waiting for the hub. Only the last is about slowness that goes on: a file of 30 MB then takes no less than
// 35 kB/s. The first is short because machines without a way out are common, and most files can be had
// otherwise.
const (
	connectWithin = 2 * time.Second  // until there is a connection, the name looked up and TLS included
	silentFor     = 30 * time.Second // between two reads, and before the first
	fetchWithin   = 15 * time.Minute // a whole file
)

// maxRedirects is how often the hub may send us on. It does so once or twice, to its content network.
const maxRedirects = 8

// Remote is a repository on the hub itself.
type Remote struct {
	hub      *Hub
	repo     Repository
	endpoint *url.URL
	token    string // sent to the endpoint alone, and shown nowhere
}

// Remote is the repository on the hub. It fails if the environment forbids to go there or cannot be made sense of;
// nothing is asked yet.
func (h *Hub) Remote(repo Repository) (*Remote, error) {
	endpoint, err := h.env.endpoint()
	if err != nil {
		return nil, err
	}
	if variable := h.env.offline(repo.kind); variable != "" {
		return nil, unknownError{fmt.Errorf("%s is set, so %s was not asked", variable, endpoint.Host)}
	}
	token, err := h.env.token()
	if err != nil {
		return nil, err
	}
	return &Remote{h, repo, endpoint, token}, nil
}

// Name is the hub's host and the repository there, for messages.
func (r *Remote) Name() string { return r.endpoint.Host + "/" + r.repo.path() }

// Page is the address of the repository's page, without a password.
func (r *Remote) Page() string { return r.endpoint.Redacted() + "/" + r.repo.path() }

// address is where the hub has a file.
func (r *Remote) address(name string) *url.URL {
	u := r.endpoint.JoinPath(r.repo.path(), "resolve")
	raw := u.EscapedPath() + "/" + url.PathEscape(r.repo.revision)
	for part := range strings.SplitSeq(name, "/") {
		raw += "/" + url.PathEscape(part)
	}
	u.RawPath = raw
	u.Path += "/" + r.repo.revision + "/" + name
	return u
}

// redirects are the statuses of answers that point on to another address.
var redirects = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
	http.StatusPermanentRedirect}

// get sends a request and follows redirects itself: http.Client would send the token to hosts below the hub's. The
// answer begins at byte from, if the host can do so. The caller closes the answer's body.
func (r *Remote) get(ctx context.Context, method string, to *url.URL, from int64) (*http.Response, error) {
	waited := false
	for range maxRedirects + 1 {
		resp, err := r.once(ctx, method, to, from)
		if err != nil {
			return nil, err
		}
		if pause := retryAfter(resp); pause > 0 && !waited {
			waited = true
			resp.Body.Close()
			r.hub.progress(fmt.Sprintf("%s wants fewer requests: waiting for %v, as it asks to", to.Host, pause))
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		if !slices.Contains(redirects, resp.StatusCode) {
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

// longestPause is how long the hub may have us wait.
const longestPause = time.Minute

// retryAfter is how long a host that gets too many requests asks to wait, 0 if it does not or if that is too long.
func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if resp.StatusCode != http.StatusTooManyRequests || err != nil || seconds < 0 ||
		seconds > int(longestPause/time.Second) {
		return 0
	}
	return time.Duration(max(1, seconds)) * time.Second
}

var (
	errNoConnection = fmt.Errorf("no connection within %v; is the network up? HF_HUB_OFFLINE=1 goes without",
		connectWithin)
	errHungUp = errors.New("the connection was closed without an answer; try again")
	errSilent = fmt.Errorf("nothing came for %v; try again", silentFor)
)

// connectionError is why the hub could not be reached.
type connectionError struct{ error }

// once sends one request and watches over the wait for its answer, until the body is closed.
func (r *Remote) once(ctx context.Context, method string, to *url.URL, from int64) (*http.Response, error) {
	hub := to.Host == r.endpoint.Host
	if lost := r.hub.lost.Load(); hub && lost != nil {
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
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	client := *r.hub.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	client.Timeout = 0 // would cut a file that is coming in well
	resp, err := client.Do(req)
	if err != nil {
		err = why(ctx, err)
		stop()
		if hub && !connected.Load() && caller.Err() == nil {
			r.hub.lost.Store(&connectionError{err})
			err = unknownError{err}
		}
		return nil, err
	}
	connecting.Stop()
	silent.Reset(silentFor)
	resp.Body = &watchedBody{resp.Body, ctx, silent, stop}
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
	ctx    context.Context // of the request
	silent *time.Timer
	stop   func()
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.silent.Reset(silentFor)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = why(b.ctx, err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	b.stop()
	return err
}

// Has reports whether the hub has a file, without fetching it. A hub points on to its content network only for files
// that it has; that network may refuse to be asked this way.
func (r *Remote) Has(ctx context.Context, name string) bool {
	resp, err := r.get(ctx, http.MethodHead, r.address(name), 0)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK || resp.Request.URL.Host != r.endpoint.Host
}

// refusal says why there is no file, as far as the hub knows.
func (r *Remote) refusal(what, name string, resp *http.Response) error {
	noun, page := r.repo.kind.noun(), r.Page()
	hint := "try again later"
	code := resp.Header.Get("X-Error-Code") // the hub's own word for the reason
	switch status := resp.StatusCode; {
	case status == http.StatusNotFound && code == "RepoNotFound":
		return unknownError{fmt.Errorf(
			"%s does not exist, or is private: check the name, and set HF_TOKEN for a private %s", r.Name(), noun)}
	case status == http.StatusNotFound && code == "RevisionNotFound":
		return revisionError{r.Name(), r.repo.revision}
	case status == http.StatusNotFound:
		return lackingError{r.Name(), name}
	case code == "GatedRepo" && r.token == "":
		hint = "the " + noun + " is gated: accept the licence at " + page + " and set HF_TOKEN"
	case code == "GatedRepo":
		hint = "the " + noun + " is gated: accept the licence at " + page + " for the account of the token, or set " +
			"HF_TOKEN to another"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		hint = "the " + noun + " is gated, private or does not exist: check its name, accept the licence at " + page +
			" and set HF_TOKEN"
		if r.token != "" {
			hint = "the token sent may not read this " + noun + ": accept the licence at " + page + ", or set " +
				"HF_TOKEN to another"
		}
	case status == http.StatusTooManyRequests:
		hint = "the hub wants fewer requests; set HF_TOKEN or try again later"
	case status < 500:
		hint = "is HF_ENDPOINT a Hugging Face hub?"
	}
	err := fmt.Errorf("cannot download %s: status %d %s; %s", what, resp.StatusCode, http.StatusText(resp.StatusCode),
		hint)
	if code == "RepoNotFound" {
		return unknownError{err}
	}
	return err
}

// unknownError says that the hub has no repository of the name, as far as it tells us, or was not asked.
type unknownError struct{ error }

func (e unknownError) Unwrap() error { return e.error }

// Unknown reports whether the error is that the hub has no repository of the name, or was not asked.
func Unknown(err error) bool { return errors.As(err, new(unknownError)) }

// lackingError says that a repository has no such file.
type lackingError struct{ where, file string }

func (e lackingError) Error() string { return e.where + " has no " + e.file + " (status 404)" }

func (e lackingError) Unwrap() error { return fs.ErrNotExist }

// revisionError says that a repository has no such revision.
type revisionError struct{ where, revision string }

func (e revisionError) Error() string { return e.where + " has no revision " + e.revision }
