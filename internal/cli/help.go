package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// flagGroup is a part of a command's flags under a heading of its help.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagGroups are all flags of a command.
type flagGroups []flagGroup

// group starts a new heading; its flags are to be defined on what it returns.
func (g *flagGroups) group(title string) *pflag.FlagSet {
	fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
	fs.SortFlags = false
	*g = append(*g, flagGroup{title, fs})
	return fs
}

// set joins all groups for parsing.
func (g flagGroups) set() *pflag.FlagSet {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, x := range g {
		all.AddFlagSet(x.flags)
	}
	return all
}

// help writes a command's help.
func (g flagGroups) help(w io.Writer, usage, text string) {
	fmt.Fprintf(w, "usage: benchtop %s\n\n%s\n", usage, strings.TrimSpace(text))
	for _, x := range g {
		fmt.Fprintf(w, "\n%s\n%s", x.title, x.flags.FlagUsagesWrapped(100))
	}
}
