package hub

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
)

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
