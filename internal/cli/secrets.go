package cli

import (
	"regexp"
	"strings"
)

// secret stands for what must not be shown.
const secret = "***"

// userInfo is the user and password of a URL, wherever it stands in an argument.
var userInfo = regexp.MustCompile(`://[^/\s]*@`)

// hideSecrets returns a command line fit to be shown and saved. headers are the values of --header as they were written;
// of each only the key is left.
func hideSecrets(args, headers []string) []string {
	safe := make([]string, len(args))
	for i, a := range args {
		for _, h := range headers {
			if h != "" && (a == h || strings.HasPrefix(a, "--") && strings.HasSuffix(a, "="+h)) {
				key, _, _ := strings.Cut(h, "=")
				a = strings.TrimSuffix(a, h) + key + "=" + secret
			}
		}
		safe[i] = userInfo.ReplaceAllString(a, "://"+secret+"@")
	}
	return safe
}
