package server

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/usage"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// Pages are pages of metrics that stand in for those of the servers of the load. A check sets
// Targets and plan.
type Pages struct {
	urls    []string
	Targets []*target.Target
	plan    []metrics.Page
}

// Define adds the flag.
func (o *Pages) Define(f *pflag.FlagSet) {
	f.Var(argv.List(&o.urls, "[name=]url", argv.Text), "metrics-url",
		"sample the /metrics of these engines in place of the server's own, as prefill=http://10.0.0.1:8100 "+
			"decode=http://10.0.0.2:8200, and compare those whose names are alike but for -0, -1 at the end")
	for _, may := range []string{argv.Variadic, argv.Repeatable} {
		_ = f.SetAnnotation("metrics-url", may, nil)
	}
}

// numbered is the end of a name that tells engines of one role apart, such as the number of a pod.
var numbered = regexp.MustCompile(`-\d+$`)

// check makes the targets of the pages, reached like the servers of the load, of which they get no headers but on the
// same host.
func (o *Pages) check(p *usage.Problems, servers []*target.Target, like target.Options) {
	o.Targets, o.plan = nil, nil
	p.BadIf(len(o.urls) > metrics.MostPages, "--metrics-url: %d pages; use at most %d", len(o.urls), metrics.MostPages)
	for i, given := range o.urls {
		name, url := named(given)
		flag := fmt.Sprintf("--metrics-url, page %d", i+1) // the rest may have a password
		t, err := pageOf(url, servers, like)
		switch {
		case name == "" && url != given || len(name) > metrics.MostPlaceName || strings.Contains(name, "=") ||
			strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
			p.Bad("%s: a name has 1 to %d bytes, without control characters and =; expected NAME=URL or URL", flag,
				metrics.MostPlaceName)
		case err != nil:
			p.Bad("%s%s", flag, strings.TrimPrefix(": "+err.Error(), ": base URL"))
		case slices.ContainsFunc(o.Targets, t.Same):
			p.Bad("%s: %s is given twice; one is enough", flag, t)
		default:
			page := metrics.Page{Name: name, Role: numbered.ReplaceAllString(name, "")}
			if name == "" {
				page.Name = strings.TrimPrefix(strings.TrimSuffix(t.String(), t.Path("")), "http://")
			}
			o.Targets, o.plan = append(o.Targets, t), append(o.plan, page)
		}
	}
	tellApart(o.plan)
}

// named splits a page into its name, "" for none, and its URL.
func named(given string) (name, url string) {
	scheme, _, _ := strings.Cut(given, "://")
	if i := strings.LastIndexByte(scheme, '='); i >= 0 {
		return given[:i], given[i+1:]
	}
	return "", given
}

// pageOf is the target of a page. Keys and other headers of the load go to the hosts of the load alone, and with TLS
// where the load has it.
func pageOf(url string, servers []*target.Target, like target.Options) (*target.Target, error) {
	if strings.ContainsAny(url, "?#") {
		return nil, errors.New("a page has no query and no fragment; leave out what is behind its path")
	}
	like.BaseURL, like.Path, like.Bind = url, "/metrics", nil
	bare := like
	bare.APIKey, bare.Token, bare.Header = "", nil, nil
	t, err := target.New(bare)
	if err != nil || !slices.ContainsFunc(servers, func(s *target.Target) bool {
		return s.Local() == t.Local() && strings.EqualFold(s.Hostname(), t.Hostname()) && (t.Secured() || !s.Secured())
	}) {
		return t, err
	}
	return target.New(like)
}

// tellApart numbers pages of the same name.
func tellApart(pages []metrics.Page) {
	same, nth := map[string]int{}, map[string]int{}
	for _, p := range pages {
		same[p.Name]++
	}
	for i := range pages {
		if name := pages[i].Name; same[name] > 1 {
			nth[name]++
			pages[i].Name = fmt.Sprintf("%s %d", name, nth[name])
		}
	}
}

// Apart reports whether the pages are of several roles, so that a request waits at several of them.
func (o *Pages) Apart() bool { return (&metrics.Plan{Pages: o.plan}).SeveralRoles() }
