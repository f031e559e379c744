package metrics

import (
	"cmp"
	"slices"
	"time"
)

const (
	examplesKept = 3
	errorsKept   = 10
)

// FailureCount groups failures of one kind and status.
type FailureCount struct {
	Kind   Failure `json:"kind"`
	Status int     `json:"status,omitempty"`
	Count  int     `json:"count"`
	// Last is when the newest of them ended.
	Last time.Duration `json:"-"`
	// Examples are the first few different texts the server or the system gave, by the place of their requests in the data
	// set: foreign text.
	Examples []string `json:"examples,omitempty"`
}

// FailureTally counts failed requests. What it keeps of their words goes by their place in the data set, not by when they
// ended, so that the same requests give the same examples in whatever order they come.
type FailureTally struct {
	groups []failureGroup
	first  []words // of the first requests that failed
}

type failureGroup struct {
	FailureCount
	examples []words // different texts
}

// words are what a request failed of.
type words struct {
	index int
	text  string
}

func (f *FailureTally) Add(q *Request) {
	i := slices.IndexFunc(f.groups, func(g failureGroup) bool { return g.Kind == q.Failure && g.Status == q.Status })
	if i < 0 {
		f.groups = append(f.groups, failureGroup{FailureCount: FailureCount{Kind: q.Failure, Status: q.Status}})
		i = len(f.groups) - 1
	}
	g := &f.groups[i]
	g.Count++
	g.Last = max(g.Last, q.Done)
	f.first = keepFirst(f.first, words{q.Index, cmp.Or(q.Error, string(q.Failure), "unfinished")}, errorsKept)
	if q.Error != "" {
		g.examine(words{q.Index, q.Error})
	}
}

// examine keeps the text among the examples if it belongs to the first few different ones.
func (g *failureGroup) examine(w words) {
	if i := slices.IndexFunc(g.examples, func(x words) bool { return x.text == w.text }); i >= 0 {
		if g.examples[i].index <= w.index {
			return
		}
		g.examples = slices.Delete(g.examples, i, i+1)
	}
	g.examples = keepFirst(g.examples, w, examplesKept)
}

// keepFirst puts w in its place by index and keeps the first so many.
func keepFirst(all []words, w words, most int) []words {
	if len(all) == most && w.index > all[most-1].index {
		return all
	}
	i, _ := slices.BinarySearchFunc(all, w, func(a, b words) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.text, b.text))
	})
	all = slices.Insert(all, i, w)
	return all[:min(len(all), most)]
}

// FirstErrors are what the first requests failed of.
func (f *FailureTally) FirstErrors() []string { return texts(f.first) }

func texts(all []words) []string {
	var out []string
	for _, w := range all {
		out = append(out, w.text)
	}
	return out
}

// Counts returns the groups, most frequent first. The reader may keep them.
func (f *FailureTally) Counts() []FailureCount {
	var out []FailureCount
	for _, g := range f.groups {
		g.Examples = texts(g.examples)
		out = append(out, g.FailureCount)
	}
	slices.SortFunc(out, func(a, b FailureCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Status, b.Status))
	})
	return out
}
