package argv

import (
	"slices"
	"strings"
)

// oldSpelling is a flag as older releases of vLLM's client, or only its Rust client, have it.
type oldSpelling struct {
	old, now string   // names; the latter with the key of a JSON flag behind a dot
	with     []string // what it implies, as NAME=VALUE, unless that is given
}

var oldSpellings = []oldSpelling{
	{"dataset", "dataset-path", []string{"dataset-name=sharegpt"}},
	{"endpoint-type", "backend", nil},
	{"output-json", "result-filename", []string{"save-result=true"}},
	{"output-file", "result-filename", []string{"save-result=true"}},
	{"custom-skip-chat-template", "skip-chat-template", nil},
	{"best-of", "extra-body.best_of", nil},
	{"speed-bench-config", "speed-bench-dataset-subset", nil},
}

// OldNames are the names that have become other ones.
func OldNames() (names []string) {
	for _, s := range oldSpellings {
		names = append(names, s.old)
	}
	return names
}

// Current is the name of a flag today, which may be the given one, without the dot and the key behind it.
func Current(name string) string {
	for _, s := range oldSpellings {
		if s.old == name {
			name, _, _ = strings.Cut(s.now, ".")
		}
	}
	return name
}

// current replaces the name of a flag, as it is written, where that is an old one of a flag of fs, and warns of it.
func (a *argv) current(name string) string {
	i := slices.IndexFunc(oldSpellings, func(s oldSpelling) bool { return s.old == Dashes(name) })
	if i < 0 || a.fs.Lookup(Dashes(name)) != nil || a.fs.Lookup(Current(Dashes(name))) == nil {
		return name
	}
	s := oldSpellings[i]
	words := "--" + s.old + " is an old spelling of --" + s.now
	for _, implied := range s.with {
		words += " with --" + strings.TrimSuffix(strings.Replace(implied, "=", " ", 1), " true")
	}
	a.warnings = append(a.warnings, words)
	a.implied = append(a.implied, s.with...)
	return s.now
}

// imply sets what old spellings stand for and was not given.
func (a *argv) imply() {
	for _, one := range a.implied {
		name, value, _ := strings.Cut(one, "=")
		if !a.fs.Changed(name) && a.fs.Set(name, value) == nil {
			a.has(a.fs.Lookup(name), "", value)
		}
	}
}
