package hub

import (
	"fmt"
	"strings"
)

// Kind says what a repository holds.
type Kind string

// The kinds of repositories that are read.
const (
	Models   Kind = "models"
	Datasets Kind = "datasets"
)

// noun is what to call a repository of the kind.
func (k Kind) noun() string {
	if k == Datasets {
		return "data set"
	}
	return "model"
}

// Repository is a model or a data set on the hub, in one of its revisions. Its parts are safe to build paths and addresses
// of. ParseRepository makes one.
type Repository struct {
	kind     Kind
	id       string // organisation/name, or the name alone for the oldest ones
	revision string // never empty
	asked    bool   // the revision was asked for, rather than main taken
}

// ParseRepository follows the hub's rules for ids, so that no name leads out of a cache. revision is a branch, tag or
// commit; empty is main.
func ParseRepository(kind Kind, id, revision string) (Repository, error) {
	r := Repository{kind, id, revision, revision != ""}
	if !r.asked {
		r.revision = "main"
	}
	parts := strings.Split(id, "/")
	valid := len(parts) <= 2 && !strings.Contains(id, "--") && !strings.Contains(id, "..") && !strings.HasSuffix(id, ".git")
	for _, part := range parts {
		valid = valid && len(part) > 0 && len(part) <= 96 && plain(part, "-._") && strings.Trim(part, "-.") == part
	}
	if !valid {
		return r, fmt.Errorf("%q is no name that the hub can have, such as organisation/name", id)
	}
	valid = len(r.revision) <= 255 && plain(r.revision, "-._/+")
	for part := range strings.SplitSeq(r.revision, "/") {
		valid = valid && part != "" && strings.Trim(part, ".") != ""
	}
	if !valid {
		return r, fmt.Errorf("%q is no revision that the hub can have; give a branch, a tag or a commit", r.revision)
	}
	return r, nil
}

// plain reports whether s holds nothing but ASCII letters, digits and the marks given.
func plain(s, marks string) bool {
	for _, c := range s {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune(marks, c) {
			return false
		}
	}
	return true
}

// ID is the repository's name as the hub has it, such as organisation/name.
func (r Repository) ID() string { return r.id }

// directory is the name of the repository's directory in a cache.
func (r Repository) directory() string {
	return string(r.kind) + "--" + strings.ReplaceAll(r.id, "/", "--")
}

// path is where the repository is below the hub's address: models are at its root.
func (r Repository) path() string {
	if r.kind == Models {
		return r.id
	}
	return string(r.kind) + "/" + r.id
}
