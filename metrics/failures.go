package metrics

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

const examplesKept = 3

// FailureCount groups failures of one kind and status.
type FailureCount struct {
	Kind   Failure `json:"kind"`
	Status int     `json:"status,omitempty"`
	Count  int     `json:"count"`
	// Last is when the newest of them ended.
	Last time.Duration `json:"-"`
	// Examples are the first few different messages of server or system, in data-set order: foreign text. Messages that
	// differ in numbers and ids alone count as one.
	Examples []string `json:"examples,omitempty"`
}

// FailureAccumulator counts failed requests. It keeps their error texts in data-set order, so that the same requests
// give the same examples in any order.
type FailureAccumulator struct {
	groups []failureGroup
}

type failureGroup struct {
	FailureCount
	examples []failureText // different texts
}

// failureText is the error text of a request, with its ErrorShape.
type failureText struct {
	index       int
	text, shape string
}

func (f *FailureAccumulator) Add(q *Request) {
	i := slices.IndexFunc(f.groups, func(g failureGroup) bool { return g.Kind == q.Failure && g.Status == q.Status })
	if i < 0 {
		f.groups = append(f.groups, failureGroup{FailureCount: FailureCount{Kind: q.Failure, Status: q.Status}})
		i = len(f.groups) - 1
	}
	g := &f.groups[i]
	g.Count++
	g.Last = max(g.Last, q.Done)
	if q.Error != "" {
		text := ErrorMessage(q.Error)
		g.examine(failureText{q.Index, text, ErrorShape(text)})
	}
}

// examine keeps the text among the examples if it belongs to the first few different ones.
func (g *failureGroup) examine(w failureText) {
	if i := slices.IndexFunc(g.examples, func(x failureText) bool { return x.shape == w.shape }); i >= 0 {
		if g.examples[i].index <= w.index {
			return
		}
		g.examples = slices.Delete(g.examples, i, i+1)
	}
	i, _ := slices.BinarySearchFunc(g.examples, w, func(a, b failureText) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.text, b.text))
	})
	if i < examplesKept {
		g.examples = slices.Insert(g.examples, i, w)
		g.examples = g.examples[:min(len(g.examples), examplesKept)]
	}
}

// Counts returns the groups, most frequent first. The reader may keep them.
func (f *FailureAccumulator) Counts() []FailureCount {
	var out []FailureCount
	for _, g := range f.groups {
		g.Examples = Each(g.examples, func(w failureText) string { return w.text })
		out = append(out, g.FailureCount)
	}
	slices.SortFunc(out, func(a, b FailureCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Status, b.Status))
	})
	return out
}

// unknownField are phrases by which servers refuse a field of a request. They refuse a value in other phrases.
var unknownField = []string{
	"unexpected", "unknown", "unrecognized", "unrecognised", "unsupported", "not supported", "not permitted",
	"not allowed", "not a valid field", "extra_forbidden", "extra fields", "additional propert", "cannot find field",
}

// RefusedFields are the fields that an answer with a status of 400 or 422 refuses by name, in their order; none where
// its text is about something else.
func RefusedFields(fields []string, status int, words string) []string {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return nil
	}
	words = strings.ToLower(words)
	if i := strings.Index(words, ", expected"); i >= 0 {
		words = words[:i] // the known fields follow
	}
	if !slices.ContainsFunc(unknownField, func(w string) bool { return strings.Contains(words, w) }) {
		return nil
	}
	named := strings.FieldsFunc(words, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return !slices.Contains(named, f) })
}

// Refused are the fields of the requests that the server refused by name.
func (r *Report) Refused() []string {
	var refused []string
	for _, f := range r.Failures {
		for _, words := range f.Examples {
			refused = append(refused, RefusedFields(r.Plan.OptionalFields, f.Status, words)...)
		}
	}
	accepted := func(f string) bool { return !slices.Contains(refused, f) }
	return slices.DeleteFunc(slices.Clone(r.Plan.OptionalFields), accepted)
}
