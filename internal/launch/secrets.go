package launch

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// hidden replaces a secret.
const hidden = "***"

// shortestSecret is the length from which on a text is hidden wherever it stands; a shorter one would be found in other words.
const shortestSecret = 6

// secretName is the name of a variable of the environment whose value is a secret.
var secretName = regexp.MustCompile(`(?i)(API_?KEY|TOKEN|SECRET|PASSWORD)S?$`)

// user is the user and password of a URL.
var user = regexp.MustCompile(`://[^/\s@]*@`)

// Hide returns a server command that may be shown and saved: without the values of --api-key, and users of URLs.
func Hide(command []string) []string {
	safe := slices.Clone(command)
	keys(command, func(i int, prefix string) { safe[i] = prefix + hidden })
	for i := range safe {
		safe[i] = user.ReplaceAllString(safe[i], "://"+hidden+"@")
	}
	return safe
}

// keys calls a function with the place of each value of --api-key, which takes several, and the part of that word before the value.
func keys(command []string, found func(i int, prefix string)) {
	within := false
	for i, word := range command {
		name, _, joined := strings.Cut(word, "=")
		switch key := strings.ReplaceAll(name, "_", "-") == "--api-key"; {
		case key && joined:
			found(i, name+"=")
			within = false
		case key || strings.HasPrefix(word, "--"):
			within = key
		case within:
			found(i, "")
		}
	}
}

// hider hides the secrets of a command and its environment in what the server prints.
func hider(command, env []string) *strings.Replacer {
	var pairs []string
	hide := func(secret string) {
		if len(secret) >= shortestSecret {
			pairs = append(pairs, secret, hidden)
		}
	}
	keys(command, func(i int, prefix string) { hide(command[i][len(prefix):]) })
	for _, e := range slices.Concat(os.Environ(), env) {
		if name, value, _ := strings.Cut(e, "="); secretName.MatchString(name) {
			hide(value)
		}
	}
	return strings.NewReplacer(pairs...)
}
