package argv

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// Part parts a command line into the flags of a set, with their values, and all other words in their order: those of
// another program's command line.
func Part(known *pflag.FlagSet, args []string) (own, others []string) {
	a := &argv{fs: known, args: args}
	for len(a.args) > 0 {
		from := a.args
		word := a.next()
		if word == "-h" {
			own = append(own, word)
			continue
		}
		if word = a.long(word); !isOption(word) || !strings.HasPrefix(word, "--") || word == "--" {
			others = append(others, from[0])
			continue
		}
		name, _, joined := strings.Cut(word[2:], "=")
		name, _, _ = strings.Cut(a.current(name), ".")
		flag, err := Find(known, name)
		switch {
		case errors.As(err, new(Help)):
		case err != nil:
			others = append(others, from[0])
			continue
		case joined || flag.NoOptDefVal != "":
		default:
			most := 1
			if _, several := flag.Annotations[Variadic]; several {
				most = len(a.args)
			}
			a.values(most)
		}
		own = append(own, from[:len(from)-len(a.args)]...)
	}
	return own, others
}
