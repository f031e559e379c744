package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"benchtop/internal/argv"
	"benchtop/internal/parallel"
	"benchtop/internal/secret"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
)

// refusal is an error that no request of the load would escape, so that the run must not begin.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// isFinal reports whether an error is there to stay.
func isFinal(err error) bool { return errors.As(err, new(refusal)) }

// moved is the refusal of a redirect, nil for another answer. Redirects are not followed, since another host would get
// the headers, and a request would be timed twice.
func moved(t *target.Target, endpoint string, answer *http.Response) error {
	to, err := answer.Location()
	if answer.StatusCode/100 != 3 || err != nil {
		return nil
	}
	to.User, to.RawQuery, to.Fragment = nil, "", ""
	place := text.Clean(t.Hide(to.String()))
	path, _, _ := strings.Cut(endpoint, "?")
	if base, ok := strings.CutSuffix(place, path); ok && base != t.String() {
		return refusal{usage.Errorf("the server at %s redirects to %s; use --base-url %[2]s", t, base)}
	}
	return refusal{usage.Errorf("the server at %s redirects %s to %s, and redirects are not followed; give the "+
		"address of the API itself with --base-url", t, endpoint, place)}
}

// CheckServer checks before the load that each server has the path of the requests, and returns warnings of models that
// it does not list. It sends nothing that can generate.
func (o *Options) CheckServer(ctx context.Context, client *http.Client, m Model, modules []string,
	fields []protocol.Field) (odd []string, err error) {
	err = o.each(client, func(one *Options, client *http.Client) error {
		its := m
		// What lists no models may still be starting; the ready check waits for it then.
		if m.Known != nil || o.Ready == 0 {
			if err := one.checkEndpoint(ctx, client); err != nil {
				return err
			}
		}
		if one.Target != o.Target { // what it lists may be another's
			one.Model = cmp.Or(o.Model, m.ID)
			if its, err = one.Ask(ctx, client); err != nil {
				return err
			}
		}
		for _, text := range one.unlisted(its, modules, fields) {
			if len(o.Others) > 0 {
				text = fmt.Sprintf("%s: %s", one.Target, text)
			}
			odd = append(odd, text)
		}
		return nil
	})
	return odd, err
}

// pathTimeout is how long a server may take to say whether it has a path. One that takes longer is not asked on.
const pathTimeout = 3 * time.Second

// checkEndpoint refuses a server that has no path for the requests, as far as a GET can tell: some servers answer it
// with 404 where only a POST is taken. One that answers 405 for the path of another backend has it, and says 404 where
// there is nothing. Any other trouble is left to the run.
func (o *Options) checkEndpoint(ctx context.Context, client *http.Client) error {
	ctx, cancel := context.WithTimeout(ctx, pathTimeout)
	defer cancel()
	status, err := statusOf(ctx, client, o.Target, o.Path())
	if err != nil || status != http.StatusNotFound {
		return err
	}
	what := fmt.Sprintf("the server at %s has no %s (404)", o.Target, o.Path())
	if inBaseURL(o.Target, o.Path()) {
		return refusal{usage.Errorf("%s; leave /v1 out of --base-url", what)}
	}
	all := pathsOfAll()
	found := make([]bool, len(all))
	parallel.Do(len(all), len(all), func(i int) bool {
		status, err := statusOf(ctx, client, o.Target, all[i].Path)
		found[i] = err == nil && status == http.StatusMethodNotAllowed
		return true
	})
	var paths, backends []string
	for i, t := range all {
		if found[i] {
			paths, backends = append(paths, t.Path), append(backends, t.Name)
		}
	}
	switch {
	case slices.Contains(paths, o.Protocol.Traits().Path):
		return refusal{usage.Errorf("%s, but %s; leave --endpoint out", what, o.Protocol.Traits().Path)}
	case len(paths) > 0:
		return refusal{usage.Errorf("%s; it has %s; use --backend %s", what, strings.Join(paths, ", "),
			text.Join(backends, " or "))}
	}
	return nil
}

// PositionalURL is the base URL that the first of some arguments is or stands for, and what of it may be shown; "" for
// none. Endpoints begin with /v1, so that one at its end is left out.
func PositionalURL(arguments []string) (base, shown string) {
	if len(arguments) == 0 {
		return "", ""
	}
	first := strings.TrimSpace(arguments[0])
	address, _, _ := strings.Cut(first, "/")
	if _, _, err := net.SplitHostPort(address); err == nil && !strings.HasSuffix(address, ":") {
		first = target.Meant(first)
	}
	if u, err := url.Parse(first); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", ""
	}
	base = strings.TrimSuffix(strings.TrimRight(first, "/"), "/v1")
	return base, secret.Hide(base)
}

// TakeURL makes the one argument there may be, a URL, the --base-url of a command.
func (o *Options) TakeURL(flags *argv.Flags, rest []string) (p usage.Problems) {
	base, shown := PositionalURL(rest)
	switch {
	case len(rest) == 0:
	case base == "":
		p.Bad("%s takes no arguments, got %q: 'vllm serve MODEL' starts a server, 'benchtop serve --model MODEL' "+
			"loads one", flags.Command(), rest)
	case len(rest) > 1:
		p.Bad("%s takes one URL, got %q; use --base-url for several servers", flags.Command(), rest)
	case len(o.BaseURLs) > 0:
		p.Bad("%s takes one URL, got %s beside --base-url; choose one", flags.Command(), shown)
	default:
		p = flags.Apply([]argv.Value{{Name: "base-url", Texts: []string{base}}})
	}
	return p
}

// misplaced is an error where a URL has the path of the API in it, nil for another.
func (o *Options) misplaced(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil
	}
	path, end := strings.TrimRight(u.EscapedPath(), "/"), ""
	var of protocol.Traits
	for _, t := range append(pathsOfAll(), protocol.Traits{Path: modelsPath}) {
		for _, p := range []string{t.Path, strings.TrimPrefix(t.Path, "/v1")} {
			// Azure's paths have no version; other names may be a gateway's own.
			if strings.HasSuffix(path, p) && len(p) > len(end) &&
				(p == t.Path || strings.HasSuffix(p, "/completions")) {
				end, of = p, t
			}
		}
	}
	if end == "" {
		return nil
	}
	use := fmt.Sprintf("--base-url %s://%s%s", u.Scheme, u.Host, strings.TrimSuffix(path, end))
	if of.Name != "" && o.Protocol != nil && of.Path != o.Protocol.Traits().Path {
		use += " --backend " + of.Name
	}
	if name, _, query := strings.Cut(u.RawQuery, "="); query { // whose value may be a key
		use += " --endpoint '" + end + "?" + name + "=…'"
	} else if end != of.Path {
		use += " --endpoint " + end
	}
	return fmt.Errorf("is --base-url right? it ends in a path of the API, %s; use %s", end, use)
}

// inBaseURL reports whether the base URL ends in /v1, which its endpoints have too.
func inBaseURL(t *target.Target, path string) bool {
	return strings.HasSuffix(t.Path(""), "/v1") && strings.HasPrefix(path, "/v1/")
}

// pathsOfAll are the first backends with each path, those of the default's path by its name.
func pathsOfAll() (all []protocol.Traits) {
	seen := map[string]bool{}
	for _, p := range append([]protocol.Protocol{protocol.Default()}, protocol.All()...) {
		if t := p.Traits(); !seen[t.Path] {
			seen[t.Path] = true
			all = append(all, t)
		}
	}
	return all
}

// statusOf is the status of a GET of a path, 0 where there is no answer. The error is the refusal of a redirect.
func statusOf(ctx context.Context, client *http.Client, t *target.Target, path string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL(path), nil)
	if err != nil {
		return 0, nil
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, nil
	}
	_ = answer.Body.Close()
	return answer.StatusCode, moved(t, path, answer)
}
