package screen

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/muesli/termenv"
)

// colorModes are the values of tui.Options.Color and the number of colours of each.
var colorModes = map[string]termenv.Profile{"none": termenv.Ascii, "16": termenv.ANSI, "256": termenv.ANSI256,
	"true": termenv.TrueColor}

// CheckColor returns an error with the valid names if name is not a value for tui.Options.Color.
func CheckColor(name string) error {
	if _, known := colorModes[name]; known || name == "" || name == "auto" {
		return nil
	}
	return fmt.Errorf("%q is not a number of colours; use auto, none, 16, 256 or true", name)
}

// environ passes an environment to termenv.
type environ func(string) string

func (e environ) Getenv(name string) string { return e(name) }
func (e environ) Environ() []string         { return nil }

// colorTerms are terminals with colours that termenv does not know by name.
var colorTerms = []string{"screen", "tmux", "rxvt", "konsole", "putty", "cygwin", "foot", "st"}

// ColorProfile decides how many colours to use. In this order:
//
//	choice                 the value of --color
//	NO_COLOR               none, if it is set to anything
//	CLICOLOR_FORCE         at least 16, unless it is 0
//	CLICOLOR=0             none
//	TERM=dumb              none
//	COLORTERM, TERM        the terminal itself
func ColorProfile(choice string, getenv func(string) string) termenv.Profile {
	if profile, known := colorModes[choice]; known {
		return profile
	}
	if getenv("NO_COLOR") != "" {
		return termenv.Ascii
	}
	force := getenv("CLICOLOR_FORCE")
	forced := force != "" && force != "0"
	if getenv("CLICOLOR") == "0" && !forced {
		return termenv.Ascii
	}
	term := getenv("TERM")
	found := termenv.Ascii
	if term != "dumb" && (term != "" || runtime.GOOS == "windows") {
		found = termenv.NewOutput(nil, termenv.WithEnvironment(environ(getenv)), termenv.WithTTY(true)).ColorProfile()
		first, _, _ := strings.Cut(term, "-")
		if found == termenv.Ascii && slices.Contains(colorTerms, first) {
			found = termenv.ANSI
		}
	}
	if forced && found == termenv.Ascii {
		return termenv.ANSI
	}
	return found
}
