package server

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/usage"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// pagesOf are the pages of --metrics-url beside a load on a server, and what is wrong with them.
func pagesOf(server string, urls ...string) (*Options, error) {
	o := &Options{Backend: "openai", port: 8000, BaseURLs: []string{server}, apiKey: "canary"}
	o.Pages.urls = urls
	return o, errors.Join(o.Check()...)
}

// Pages have a name and a role each: that of engines whose names are alike but for the number at the end.
func TestPages(t *testing.T) {
	for given, want := range map[string]string{
		"http://h:1":                  "h:1 () http://h:1/metrics",
		"http://h:1 http://h:2/":      "h:1 () http://h:1/metrics, h:2 () http://h:2/metrics",
		"http://h:1/a http://h:1/b":   "h:1 1 () http://h:1/a, h:1 2 () http://h:1/b",
		"p=http://h:1 d=http://h:2/x": "p (p) http://h:1/metrics, d (d) http://h:2/x",
		"p=http://h:1 p=http://h:2":   "p 1 (p) http://h:1/metrics, p 2 (p) http://h:2/metrics",
		"p-0=http://h:1 p-12=http://h:2 p=http://h:3": "p-0 (p) http://h:1/metrics, " +
			"p-12 (p) http://h:2/metrics, p (p) http://h:3/metrics",
		"p-0=http://h:1 p-0=http://h:2":          "p-0 1 (p) http://h:1/metrics, p-0 2 (p) http://h:2/metrics",
		"h100=http://h:1 -1=http://u:canary@h:2": "h100 (h100) http://h:1/metrics, -1 () http://h:2/metrics",
		"unix:///run/a.sock x=http+unix://%2Frun%2Fb/me": "unix:///run/a.sock () unix:///run/a.sock, " +
			"x (x) http+unix://%2Frun%2Fb/me",
	} {
		o, err := pagesOf("http://h", strings.Fields(given)...)
		assert.Fine(t, err)
		var plan metrics.Plan
		o.Plan(&plan)
		var got []string
		for i, p := range plan.Pages {
			got = append(got, fmt.Sprintf("%s (%s) %s", p.Name, p.Role, o.Pages.Targets[i]))
		}
		assert.Same(t, given, strings.Join(got, ", "), want)
		if several := len(got) > 1; plan.Engines != several {
			t.Errorf("%s: compared %t", given, plan.Engines)
		}
	}
	socket, err := pagesOf("http://h", "unix:///run/a.sock")
	assert.Fine(t, err)
	assert.Same(t, "the path at a socket", socket.Pages.Targets[0].Path(""), "/metrics")
}

// What is no page is refused with its place in the list, and without what may be secret.
func TestPagesThatAreNone(t *testing.T) {
	many := make([]string, metrics.MostPages+1)
	for i := range many {
		many[i] = fmt.Sprintf("http://h:%d", i+1)
	}
	for _, c := range []struct {
		urls []string
		want string
	}{
		{many[1:], ""},
		{many, "--metrics-url: 64 pages; use at most 63"},
		{[]string{"ftp://h"}, `--metrics-url, page 1 "ftp://h": expected http://HOST:PORT`},
		{[]string{"http://h", "p=10.0.0.1:8000"}, "--metrics-url, page 2: missing http:// or https://"},
		{[]string{"u:canary@h"}, "--metrics-url, page 1: missing http://"},
		{[]string{"u:can=ary@h"}, "--metrics-url, page 1: missing http://"},
		{[]string{"u:can=ar=y@h"}, "--metrics-url, page 1: a name has 1 to 128 bytes"},
		{[]string{"a=b=http://h"}, "a name has 1 to 128 bytes, without control characters and ="},
		{[]string{"=http://h"}, "a name has 1 to 128 bytes"},
		{[]string{"a\x1b[31m=http://h"}, "a name has 1 to 128 bytes"},
		{[]string{strings.Repeat("a", 129) + "=http://h"}, "a name has 1 to 128 bytes"},
		{[]string{"http://h?key=canary"}, "a page has no query and no fragment"},
		{[]string{"http://h:1", "p=http://u:canary@H:1/metrics/"},
			"--metrics-url, page 2: http://H:1/metrics is given twice"},
		{[]string{"http://***@h"}, "--metrics-url, page 1: its user and password were hidden here"},
	} {
		_, err := pagesOf("http://h", c.urls...)
		assert.Fails(t, strings.Join(c.urls, " "), err, c.want)
		if err != nil && strings.Contains(strings.ReplaceAll(err.Error(), "ar=y", "ary"), "canary") {
			t.Errorf("%q: %v", c.urls, err)
		}
	}
}

// The key of the API goes to pages on the hosts of the load alone, and not without TLS where the load has it.
func TestPagesGetTheKeyOfTheirHost(t *testing.T) {
	for _, c := range []struct {
		load, page, want string
	}{
		{"http://h:1", "http://h:2", "Bearer canary"},
		{"http://h:1", "https://H", "Bearer canary"},
		{"https://h:1", "https://h:2", "Bearer canary"},
		{"https://h:1", "http://h:2", ""},
		{"http://h:1", "http://i:1", ""},
		{"http://h:1", "http://h.evil:1", ""},
		{"http://h:1", "http://h:1@evil", "Basic aDox"},
		{"http://localhost:1", "unix:///run/x", ""},
		{"unix:///run/y", "http://localhost:1", ""},
		{"http://h:1", "http://u:p@i:1", "Basic dTpw"},
	} {
		o, err := pagesOf(c.load, c.page)
		assert.Fine(t, err)
		assert.Same(t, c.load+" and "+c.page, o.Pages.Targets[0].Header().Get("Authorization"), c.want)
		warned := strings.Contains(strings.Join(o.Warnings, ""), "--metrics-url: the command line is no place for a")
		if warned != strings.Contains(c.page, "@") {
			t.Errorf("%s: warnings %q", c.page, o.Warnings)
		}
	}
	o, err := pagesOf("http://h", "http://i")
	assert.Fine(t, err)
	o.Hide([]string{"hidden"})
	assert.Same(t, "a secret", o.Pages.Targets[0].Hide("a hidden word"), "a *** word")
}

// Pages may be any text.
func FuzzPages(f *testing.F) {
	for _, seed := range []string{"p=http://h:1 p=http://h:2", "a=b=http://h", "=", "unix:///x=y",
		"p-0=https://[::1]:1/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		var o Pages
		o.urls = strings.Fields(given)
		o.check(new(usage.Problems), nil, target.Options{})
		names := map[metrics.Page]bool{}
		for _, p := range o.plan {
			if names[p] || p.Name == "" {
				t.Errorf("%q: two pages are %+v", given, p)
			}
			names[p] = true
		}
	})
}
