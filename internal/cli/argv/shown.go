package argv

import (
	"regexp"
	"strings"
)

// Secret replaces text that must not be shown.
const Secret = "***"

// userInfo is the user and password of a URL, wherever it stands in an argument.
var userInfo = regexp.MustCompile(`://[^/\s]*@`)

// HideUsers hides users and passwords in the URLs of a text.
func HideUsers(text string) string { return userInfo.ReplaceAllString(text, "://"+Secret+"@") }

// HideSecrets returns a command line that may be shown and saved. Of headers, the values of --header as written, only the keys
// remain.
func HideSecrets(args, headers []string) []string {
	safe := make([]string, len(args))
	for i, a := range args {
		for _, h := range headers {
			if h != "" && (a == h || strings.HasPrefix(a, "--") && strings.HasSuffix(a, "="+h)) {
				key, _, _ := strings.Cut(h, "=")
				a = strings.TrimSuffix(a, h) + key + "=" + Secret
			}
		}
		safe[i] = HideUsers(a)
	}
	return safe
}

// ShellWords is the program with its arguments, quoted for a shell.
func ShellWords(args []string) []string {
	words := []string{"benchtop"}
	for _, a := range args {
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+", r)
		}) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return words
}
