package cli

import (
	"regexp"
)

// userInfo is the user and password of a URL, wherever it stands in an argument.
var userInfo = regexp.MustCompile(`://[^/\s]*@`)

// hideSecrets returns a command line fit to be shown and saved.
func hideSecrets(args []string) []string {
	safe := make([]string, len(args))
	for i, a := range args {
		safe[i] = userInfo.ReplaceAllString(a, "://***@")
	}
	return safe
}
