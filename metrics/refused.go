package metrics

import (
	"net/http"
	"slices"
	"strings"
)

// notKnown are the words by which servers refuse a field of a request. A value that they do not like has other words.
var notKnown = []string{
	"unexpected", "unknown", "unrecognized", "unrecognised", "unsupported", "not supported", "not permitted", "not allowed", "not a valid field",
	"extra_forbidden", "extra fields", "additional propert", "cannot find field",
}

// RefusedFields are those of the fields that an answer with a status of 400 or 422 refuses by name, in their order; none where its
// words are about something else.
func RefusedFields(fields []string, status int, words string) []string {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return nil
	}
	words = strings.ToLower(words)
	if i := strings.Index(words, ", expected"); i >= 0 {
		words = words[:i] // what follows are the fields that it knows
	}
	if !slices.ContainsFunc(notKnown, func(w string) bool { return strings.Contains(words, w) }) {
		return nil
	}
	named := strings.FieldsFunc(words, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return !slices.Contains(named, f) })
}

// Refused are the fields of the requests that the server refused by name; none where no request failed of that.
func (r *Report) Refused() []string {
	var refused []string
	for _, f := range r.Failures {
		for _, words := range f.Examples {
			refused = append(refused, RefusedFields(r.Plan.OptionalFields, f.Status, words)...)
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Plan.OptionalFields), func(f string) bool { return !slices.Contains(refused, f) })
}
