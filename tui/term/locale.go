package term

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
)

// Plain reports whether a terminal needs ASCII, by its environment: the locale is not UTF-8, or the terminal is the console of Linux, whose font has
// neither braille nor most blocks. Without any locale, as in most containers, the terminal is taken for one with UTF-8.
func Plain(getenv func(string) string) bool {
	if getenv("TERM") == "linux" {
		return true
	}
	// The first that is set decides, as in setlocale.
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := getenv(name); locale != "" {
			return !isUTF8(locale)
		}
	}
	return false
}

// isUTF8 reads the character set of a locale such as de_DE.UTF-8@euro; some systems set it alone: UTF-8.
func isUTF8(locale string) bool {
	locale, _, _ = strings.Cut(locale, "@")
	_, set, found := strings.Cut(locale, ".")
	if !found {
		set = locale
	}
	return strings.EqualFold(strings.ReplaceAll(set, "-", ""), "utf8")
}

// Columns is the width of the terminal that w writes to; 0 if it is none.
func Columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return width
}
