package export

import (
	"slices"
	"strings"
)

// LeaveOut is the flag that leaves fields out of the requests of a command line, to be copied into it. Of several objects for
// --extra-body the last counts, so that a command that has one gets its members one by one.
func LeaveOut(fields, command []string) string {
	given := func(arg string) bool {
		name, _, _ := strings.Cut(strings.ReplaceAll(arg, "_", "-"), "=")
		return name == "--extra-body"
	}
	var parts []string
	if slices.ContainsFunc(command, given) {
		for _, f := range fields {
			parts = append(parts, "--extra-body."+f+" null")
		}
		return strings.Join(parts, " ")
	}
	for _, f := range fields {
		parts = append(parts, `"`+f+`":null`)
	}
	return "--extra-body '{" + strings.Join(parts, ",") + "}'"
}

// Listed joins words as a sentence does: a, b and c.
func Listed(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}
