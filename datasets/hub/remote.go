package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
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

// Remote is the repository on the hub. It fails if the environment forbids to go there or cannot be made sense of; nothing
// is asked yet.
func (h *Hub) Remote(repo Repository) (*Remote, error) {
	endpoint, err := h.env.endpoint()
	if err != nil {
		return nil, err
	}
	if variable := h.env.offline(repo.kind); variable != "" {
		return nil, fmt.Errorf("%s is set, so %s was not asked", variable, endpoint.Host)
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

// Get returns the content of a file. The error is an fs.ErrNotExist only if the hub has the repository, but not the file.
func (r *Remote) Get(ctx context.Context, f File) ([]byte, error) {
	what := fmt.Sprintf("%s of %s from %s", f.Name, r.repo.id, r.endpoint.Host)
	if f.Reported && r.hub.lost.Load() == nil {
		r.hub.progress("downloading " + what)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchWithin, fmt.Errorf("it took longer than %v", fetchWithin))
	defer cancel()
	resp, err := r.get(ctx, http.MethodGet, r.address(f.Name))
	if err != nil {
		return nil, fmt.Errorf("cannot download %s: %w", what, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, r.refusal(what, f.Name, resp)
	}
	data, err := r.body(resp, what, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("cannot download %s: %w", what, err)
	}
	return data, misdelivered(what, f, resp.Header.Get("Content-Type"), data)
}

// body reads an answer. One that is shorter than was announced is an error.
func (r *Remote) body(resp *http.Response, what string, limit int64) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	said := &progress{total: resp.ContentLength, what: what, report: r.hub.progress}
	data, err := readBounded(io.TeeReader(resp.Body, said), limit)
	if errors.Is(err, io.ErrUnexpectedEOF) || err == nil && int64(len(data)) < resp.ContentLength {
		return nil, fmt.Errorf("the answer broke off after %d bytes; try again", len(data))
	}
	return data, err
}

// misdelivered is the error for something else than the file, such as a proxy's page to log in.
func misdelivered(what string, f File, kind string, data []byte) error {
	media, _, _ := mime.ParseMediaType(kind)
	begin := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 512)]))
	switch {
	case media == "text/html" || bytes.HasPrefix(begin, []byte("<!doctype html")) || bytes.HasPrefix(begin, []byte("<html")):
		return fmt.Errorf("a web page came instead of %s; does a proxy want a login? Check HF_ENDPOINT and HTTPS_PROXY", what)
	case bytes.HasPrefix(data, []byte(pointer)):
		return fmt.Errorf("a pointer of Git's to a large file came instead of %s; does this hub have its large files? Check HF_ENDPOINT", what)
	case f.JSON && !json.Valid(data):
		return fmt.Errorf("%s came as %d bytes that are not JSON; try again", what, len(data))
	case len(data) == 0:
		return fmt.Errorf("%s came empty; try again", what)
	case f.Check != nil:
		if err := f.Check(bytes.NewReader(data)); err != nil {
			return fmt.Errorf("%s came as something else: %w; try again", what, err)
		}
	}
	return nil
}

// progress reports how far a download is, every few megabytes.
type progress struct {
	done, total, next int64
	what              string
	report            func(string)
}

const reportEvery = 4 << 20

func (t *progress) Write(p []byte) (int, error) {
	t.done += int64(len(p))
	if t.done >= t.next+reportEvery {
		t.next = t.done - t.done%reportEvery
		of := ""
		if t.total > 0 {
			of = fmt.Sprintf(" of %d", t.total>>20)
		}
		t.report(fmt.Sprintf("downloading %s: %d%s MiB", t.what, t.done>>20, of))
	}
	return len(p), nil
}

// redirects are the statuses of answers that point on to another address.
var redirects = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}

// get sends a request and follows redirects itself: http.Client would send the token to hosts below the hub's.
// The caller closes the answer's body.
func (r *Remote) get(ctx context.Context, method string, to *url.URL) (*http.Response, error) {
	for range maxRedirects + 1 {
		resp, err := r.once(ctx, method, to)
		if err != nil {
			return nil, err
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
	client := *r.hub.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	client.Timeout = 0 // would cut a file that is coming in well
	resp, err := client.Do(req)
	if err != nil {
		err = why(ctx, err)
		stop()
		if hub && !connected.Load() && caller.Err() == nil {
			r.hub.lost.Store(&unreachable{err})
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
	resp, err := r.get(ctx, http.MethodHead, r.address(name))
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
	switch status := resp.StatusCode; {
	case status == http.StatusNotFound:
		switch resp.Header.Get("X-Error-Code") { // the hub's own word for the reason
		case "RepoNotFound":
			return fmt.Errorf("%s does not exist, or is private: check the name, and set HF_TOKEN for a private %s", r.Name(), noun)
		case "RevisionNotFound":
			return fmt.Errorf("%s has no revision %s", r.Name(), r.repo.revision)
		}
		return lackingError{r.Name(), name}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		hint = "the " + noun + " is gated, private or does not exist: check its name, accept the licence at " + page + " and set HF_TOKEN"
		if r.token != "" {
			hint = "the token sent may not read this " + noun + ": accept the licence at " + page + ", or set HF_TOKEN to another"
		}
	case status == http.StatusTooManyRequests:
		hint = "the hub wants fewer requests; set HF_TOKEN or try again later"
	case status < 500:
		hint = "is HF_ENDPOINT a Hugging Face hub?"
	}
	return fmt.Errorf("cannot download %s: status %d %s; %s", what, resp.StatusCode, http.StatusText(resp.StatusCode), hint)
}

// lackingError says that a repository has no such file.
type lackingError struct{ where, file string }

func (e lackingError) Error() string { return e.where + " has no " + e.file + " (status 404)" }

func (e lackingError) Unwrap() error { return fs.ErrNotExist }
