// Package argv is the command line as vLLM's client reads it: its grammar, which pflag alone cannot follow, the values
// of its flags, and the help.
package argv

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/usage"
)

// Flags are the flags of a command under headings, with the text of its help.
type Flags struct {
	Synopsis, Text string
	groups         []group
	refused        map[string]bool // flags of other commands that this one sets by itself
	given          []Value
}

// group is a part of a command's flags under a heading of its help.
type group struct {
	title string
	flags *pflag.FlagSet
}

// Group starts or continues a heading and returns the set for its flags.
func (f *Flags) Group(title string) *pflag.FlagSet {
	if i := slices.IndexFunc(f.groups, func(x group) bool { return x.title == title }); i >= 0 {
		return f.groups[i].flags
	}
	fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
	fs.SortFlags = false
	f.groups = append(f.groups, group{title, fs})
	return fs
}

// Command is the name of the command.
func (f *Flags) Command() string {
	name, _, _ := strings.Cut(f.Synopsis, " ")
	return name
}

// Keep leaves the flags for which keep is true to the user. The program may set the others; Parse refuses them and no
// help shows them.
func (f *Flags) Keep(keep func(heading, name string) bool) {
	f.refused = map[string]bool{}
	for _, x := range f.groups {
		x.flags.VisitAll(func(flag *pflag.Flag) { f.refused[flag.Name] = !keep(x.title, flag.Name) })
	}
}

// All are the flags of all groups, as a set whose name is the synopsis: it tells which flags are vLLM's.
func (f *Flags) All() *pflag.FlagSet {
	all := pflag.NewFlagSet(f.Synopsis, pflag.ContinueOnError)
	for _, x := range f.groups {
		all.AddFlagSet(x.flags)
	}
	return all
}

// VisitAll calls a function with each flag, in the order of the help.
func (f *Flags) VisitAll(visit func(*pflag.Flag)) {
	for _, x := range f.groups {
		x.flags.VisitAll(visit)
	}
}

// Parse reads a command line by the rules of parse. A Help error prints the help of these flags.
func (f *Flags) Parse(args []string) (rest, warnings []string, err error) {
	all := f.All()
	rest, warnings, err = parse(all, args, f.record)
	if asked, ok := errors.AsType[Help](err); ok {
		return rest, warnings, Help{asked.Word, f}
	}
	var problems usage.Problems
	all.Visit(func(x *pflag.Flag) {
		problems.BadIf(f.refused[x.Name], "--%s: not a flag of %s; use 'benchtop serve' for another load", x.Name,
			f.Command())
	})
	return rest, warnings, errors.Join(append(problems, err)...)
}

// Help is the error of a command line that asks for help, in full or about a word.
type Help struct {
	Word string
	of   *Flags
}

func (Help) Error() string { return "help requested" }

// Print writes the help: for no word all flags but the hidden ones, for "all" these too, for a heading the flags below
// it, and for any other word the flags that have it in their name or text.
func (h Help) Print(w io.Writer) {
	f, filter := h.of, h.Word
	fmt.Fprintf(w, "usage: benchtop %s\n", f.Synopsis)
	filter = strings.ToLower(strings.TrimSpace(filter))
	if filter == "" || filter == "all" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(f.Text))
		f.writeGroups(w, f.groups, func(x *pflag.Flag) bool { return filter == "all" || !x.Hidden })
		return
	}
	var titles []string
	for i, x := range f.groups {
		if titles = append(titles, x.title); strings.ToLower(x.title) == filter {
			f.writeGroups(w, f.groups[i:i+1], func(*pflag.Flag) bool { return true })
			return
		}
	}
	name := Dashes(strings.TrimLeft(filter, "-"))
	found := f.writeGroups(w, f.groups, func(x *pflag.Flag) bool {
		return name != "" && strings.Contains(x.Name, name) || strings.Contains(strings.ToLower(x.Usage), filter)
	})
	if !found {
		fmt.Fprintf(w, "\nno flag mentions %s%s\nheadings, for --help=HEADING: %s\n",
			usage.Quote(filter), usage.DidYouMean(name, flagNames(f.All())), strings.Join(titles, ", "))
	}
}

// writeGroups writes the flags to show, under their headings, and reports whether there are any.
func (f *Flags) writeGroups(w io.Writer, groups []group, show func(*pflag.Flag) bool) (any bool) {
	const width = 100
	for _, x := range groups {
		shown := pflag.NewFlagSet(x.title, pflag.ContinueOnError)
		shown.SortFlags = false
		x.flags.VisitAll(func(flag *pflag.Flag) {
			if show(flag) && !f.refused[flag.Name] {
				visible := *flag
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

// inertFlags are flags of vLLM's client that are accepted without effect, with the reason.
var inertFlags = []struct{ name, kind, why string }{
	{"tokenizer-mode", "string", "every tokenizer is read from its tokenizer.json"},
	{"trust-remote-code", "bool", "remote code is never run"},
	{"use-beam-search", "bool", "no effect in vLLM's client either"},
	{"disable-tqdm", "bool", "there is no tqdm progress bar; see --progress"},
}

// DefineInert adds the flags without effect, but for those that a command has with an effect.
func DefineInert(f, has *pflag.FlagSet) {
	for _, x := range inertFlags {
		switch {
		case has.Lookup(x.name) != nil:
		case x.kind == "bool":
			f.Bool(x.name, false, x.why)
		default:
			f.String(x.name, "", x.why)
		}
	}
}

// InertNotes name the flags without effect that were given.
func InertNotes(given *pflag.FlagSet) (notes []string) {
	for _, x := range inertFlags {
		if f := given.Lookup(x.name); f.Changed && f.Usage == x.why {
			notes = append(notes, fmt.Sprintf("--%s has no effect: %s", x.name, x.why))
		}
	}
	return notes
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
