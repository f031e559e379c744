package target

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// framing headers say where a message ends, which only the HTTP layer knows.
var framing = []string{"Content-Length", "Transfer-Encoding", "Trailer", "Upgrade"}

// checkHeader reports every header that cannot be sent. The errors name a header and never tell its value.
func checkHeader(h http.Header) error {
	var problems []error
	for name, values := range h {
		switch good := tokenPrefix(name); {
		case good != name || name == "":
			// Whatever follows may be a value that got into the name.
			problems = append(problems, fmt.Errorf("header %q…: a name has letters, digits and dashes only", good))
			continue
		case slices.Contains(framing, http.CanonicalHeaderKey(name)):
			problems = append(problems, fmt.Errorf("header %s: it cannot be set, since it belongs to the connection", name))
		}
		for _, v := range values {
			if !isValue(v) || http.CanonicalHeaderKey(name) == "Host" && strings.ContainsAny(v, " \t/") {
				problems = append(problems,
					fmt.Errorf("header %s: its value has a character that cannot be sent, such as a line break", name))
			}
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// tokenPrefix is how much of a header's name is one.
func tokenPrefix(name string) string {
	end := strings.IndexFunc(name, func(r rune) bool {
		return r >= 0x7f || !isWordByte(byte(r)) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
	if end < 0 {
		return name
	}
	return name[:end]
}

// isValue reports whether a text can be a header's value: no control characters but a tab.
func isValue(s string) bool {
	for _, b := range []byte(s) {
		if b < ' ' && b != '\t' || b == 0x7f {
			return false
		}
	}
	return true
}
