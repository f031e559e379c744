package target

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// framing headers belong to the HTTP layer.
var framing = []string{"Content-Length", "Transfer-Encoding", "Trailer", "Upgrade"}

// CheckHeader reports every header that cannot be sent. The errors name a header and never its value.
func CheckHeader(h http.Header) error {
	var problems []error
	for name, values := range h {
		switch good := tokenPrefix(name); {
		case good != name || name == "":
			// The rest may be a value that got into the name.
			problems = append(problems, fmt.Errorf("header %q…: a name has letters, digits and dashes only", good))
			continue
		case slices.Contains(framing, http.CanonicalHeaderKey(name)):
			problems = append(problems,
				fmt.Errorf("header %s: it cannot be set, since it belongs to the connection", name))
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

// tokenPrefix is the valid beginning of a header's name.
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
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// clean returns headers with canonical names, and the Host apart, as HTTP libraries treat it.
func clean(h http.Header) (header http.Header, host string) {
	header = http.Header{}
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		header[name] = append(header[name], values...)
	}
	host = header.Get("Host")
	header.Del("Host")
	return header, host
}
