package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"benchtop/internal/usage"

	"github.com/spf13/pflag"
)

// flagGroup is a part of a command's flags under a heading of its help.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagGroups are all flags of a command.
type flagGroups []flagGroup

// group starts a heading, or goes on with it; its flags are to be defined on what it returns.
func (g *flagGroups) group(title string) *pflag.FlagSet {
	if i := slices.IndexFunc(*g, func(x flagGroup) bool { return x.title == title }); i >= 0 {
		return (*g)[i].flags
	}
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

// help writes a command's help. The filter is what was written behind --help=: nothing for all flags but the hidden
// ones, "all" for these too, a heading for the flags below it, and any other word for the flags that have it in their
// name or text.
func (g flagGroups) help(w io.Writer, synopsis, text, filter string) {
	fmt.Fprintf(w, "usage: benchtop %s\n", synopsis)
	filter = strings.ToLower(strings.TrimSpace(filter))
	if filter == "" || filter == "all" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(text))
		g.list(w, func(f *pflag.Flag) bool { return filter == "all" || !f.Hidden })
		return
	}
	var titles []string
	for _, x := range g {
		if titles = append(titles, x.title); strings.ToLower(x.title) == filter {
			flagGroups{x}.list(w, func(*pflag.Flag) bool { return true })
			return
		}
	}
	name := dashes(strings.TrimLeft(filter, "-"))
	found := g.list(w, func(f *pflag.Flag) bool {
		return name != "" && strings.Contains(f.Name, name) || strings.Contains(strings.ToLower(f.Usage), filter)
	})
	if !found {
		fmt.Fprintf(w, "\nno flag has %s in its name or text%s\nheadings, each for --help=HEADING: %s\n",
			usage.Quote(filter), usage.DidYouMean(name, flagNames(g.set())), strings.Join(titles, ", "))
	}
}

// list writes the flags that are to be shown, under their headings, and reports whether there are any.
func (g flagGroups) list(w io.Writer, show func(*pflag.Flag) bool) (any bool) {
	const width = 100
	for _, x := range g {
		shown := pflag.NewFlagSet(x.title, pflag.ContinueOnError)
		shown.SortFlags = false
		x.flags.VisitAll(func(f *pflag.Flag) {
			if show(f) {
				visible := *f
				visible.Hidden = false
				shown.AddFlag(&visible)
			}
		})
		if shown.HasFlags() {
			fmt.Fprintf(w, "\n%s\n%s", x.title, shown.FlagUsagesWrapped(width))
			any = true
		}
	}
	return any
}
