package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Bounds on waiting for the hub. Only the last is about slowness that goes on: a file of 30 MB then takes no less than
// 35 kB/s. The first is short because machines without a way out are common, and what the hub is asked for can mostly be had
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
	repo     Repository
	client   *http.Client
	endpoint *url.URL
	token    string // sent to the endpoint alone, and shown nowhere
	progress func(string)
	lost     *atomic.Pointer[unreachable] // the hub's
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
	return &Remote{repo: repo, client: h.client, endpoint: endpoint, token: token, progress: h.progress, lost: &h.lost}, nil
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
	if f.Tell && r.lost.Load() == nil {
		r.progress("downloading " + what)
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
	said := &told{total: resp.ContentLength, what: what, tell: r.progress}
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

// told reports how far a download is, every few megabytes.
type told struct {
	done, total, next int64
	what              string
	tell              func(string)
}

const tellEvery = 4 << 20

func (t *told) Write(p []byte) (int, error) {
	t.done += int64(len(p))
	if t.done >= t.next+tellEvery {
		t.next = t.done - t.done%tellEvery
		of := ""
		if t.total > 0 {
			of = fmt.Sprintf(" of %d", t.total>>20)
		}
		t.tell(fmt.Sprintf("downloading %s: %d%s MiB", t.what, t.done>>20, of))
	}
	return len(p), nil
}
