package launch

import (
	"os"
	"slices"
	"strings"

	"benchtop/internal/secret"
)

// shortestSecret is the length from which on a text is hidden wherever it stands; a shorter one would be found in other
// words.
const shortestSecret = 6

// Hide returns a server command that may be shown and saved: without the values of --api-key and what
// [secret.HideWords] hides.
func Hide(command []string) []string {
	safe := slices.Clone(command)
	keys(command, func(i int, prefix string) { safe[i] = prefix + secret.Mask })
	return secret.HideWords(safe, nil)
}

// keys calls a function with the place of each value of --api-key, which takes several, and the part of that word
// before the value.
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
	hide := func(text string) {
		if len(text) >= shortestSecret {
			pairs = append(pairs, text, secret.Mask)
		}
	}
	keys(command, func(i int, prefix string) { hide(command[i][len(prefix):]) })
	for _, e := range slices.Concat(os.Environ(), env) {
		if name, value, _ := strings.Cut(e, "="); secret.Name.MatchString(name) {
			hide(value)
		}
	}
	return strings.NewReplacer(pairs...)
}
