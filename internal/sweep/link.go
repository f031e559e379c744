package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Link joins a parameter of the server with one of the benchmark: combinations in which they differ are left out.
type Link struct{ Server, Bench string }

// ParseLinks reads --link-vars: pairs SERVER_KEY=BENCH_KEY, separated by commas.
func ParseLinks(text string) (links []Link, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		server, bench, ok := strings.Cut(pair, "=")
		l := Link{strings.TrimSpace(server), strings.TrimSpace(bench)}
		if !ok || l.Server == "" || l.Bench == "" || strings.Contains(bench, "=") {
			return nil, fmt.Errorf("%q: expected a pair SERVER_KEY=BENCH_KEY, such as max_num_seqs=max_concurrency",
				strings.TrimSpace(pair))
		}
		links = append(links, l)
	}
	return links, nil
}

// CheckLinks refuses links with which nothing would run.
func CheckLinks(links []Link, server, bench []Item) error {
	for _, l := range links {
		for _, side := range []struct {
			key, flag string
			items     []Item
		}{{l.Server, "--serve-params", server}, {l.Bench, "--bench-params", bench}} {
			if !slices.ContainsFunc(side.items, func(it Item) bool { return it.Get(side.key) != nil }) {
				return fmt.Errorf("--link-vars %s=%s: no entry of %s has the key %s, spelled like this, so nothing "+
					"would run", l.Server, l.Bench, side.flag, side.key)
			}
		}
	}
	for _, s := range server {
		if slices.ContainsFunc(bench, func(b Item) bool { return linked(links, s, b) }) {
			return nil
		}
	}
	return errors.New("--link-vars: no entries of --serve-params and --bench-params have equal values for the keys, " +
		"so nothing would run")
}

// linked reports whether a combination agrees with all links.
func linked(links []Link, server, bench Item) bool {
	return !slices.ContainsFunc(links, func(l Link) bool {
		a, b := server.Get(l.Server), bench.Get(l.Bench)
		return a == nil || b == nil || !equal(a, b)
	})
}
