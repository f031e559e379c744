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

	"benchtop/internal/text"
	"benchtop/internal/usage"
)

// Flags are the flags of a command under headings, with the text of its help.
type Flags struct {
	Synopsis, Text string
	// Details are the part of the text that only the whole help has.
	Details string
	// Most are the flags used most, all that the first help shows of many; nil for all of them.
	Most []string
	// Synonyms are words for which the help finds flags that do not have them, such as "slo".
	Synonyms map[string][]string
	groups   []group
	refused  map[string]bool // flags of other commands that this one sets by itself
	given    []Value
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
	Word  string
	Flags *Flags // of the command
}

func (Help) Error() string { return "help requested" }

// Print writes the help: for no word the flags used most, or all but the hidden ones where there are few; for "all" the
// whole help; for a heading the flags below it; and for any other word the flags that have it in their name or text, or
// are known by it.
func (h Help) Print(w io.Writer) {
	f, word := h.Flags, strings.ToLower(strings.TrimSpace(h.Word))
	fmt.Fprintf(w, "usage: benchtop %s\n", f.Synopsis)
	if word == "" || word == "all" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(f.Text))
	}
	switch name := Dashes(strings.TrimLeft(word, "-")); {
	case word == "" && f.Most != nil:
		f.writeMost(w)
	case word == "" || word == "all":
		if f.Details != "" {
			fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(f.Details))
		}
		f.writeGroups(w, f.groups, func(x *pflag.Flag) bool { return word == "all" || !x.Hidden })
	case slices.ContainsFunc(f.groups, titled(word)):
		i := slices.IndexFunc(f.groups, titled(word))
		f.writeGroups(w, f.groups[i:i+1], func(*pflag.Flag) bool { return true })
	case !f.writeGroups(w, f.groups, func(x *pflag.Flag) bool {
		return name != "" && strings.Contains(x.Name, name) || strings.Contains(strings.ToLower(x.Usage), word) ||
			slices.Contains(f.Synonyms[name], x.Name)
	}):
		fmt.Fprintf(w, "\nno flag mentions %s%s\nheadings, for --help=HEADING: %s\n",
			usage.Quote(word), usage.DidYouMean(name, flagNames(f.All())), strings.Join(f.titles(), ", "))
	}
}

// titled are groups with this title, in small letters.
func titled(title string) func(group) bool {
	return func(x group) bool { return strings.ToLower(x.title) == title }
}

// Completions are what the last word of a command line may become, each with a description or none behind a tab: names
// of flags, or words that the flag before it may be given. None are known for files and free values.
func (f *Flags) Completions(words []string) (all []string) {
	last := words[len(words)-1]
	if name, value, joined := strings.Cut(last, "="); joined && strings.HasPrefix(name, "--") {
		for _, word := range f.Completions([]string{name, value}) {
			all = append(all, name+"="+word)
		}
		return all
	}
	if strings.HasPrefix(last, "-") {
		f.Headings(func(_ string, flags []*pflag.Flag) {
			for _, x := range flags {
				if name := "--" + x.Name; strings.HasPrefix(name, last) {
					about, _, _ := strings.Cut(x.Usage, ";")
					all = append(all, name+"\t"+about)
				}
			}
		})
		return all
	}
	for _, word := range f.wordsAt(words) {
		if strings.HasPrefix(word, last) {
			all = append(all, word)
		}
	}
	return all
}

// wordsAt are the words that the flag before the last of some words may be given; none where that is no value.
func (f *Flags) wordsAt(words []string) []string {
	i := len(words) - 2
	for i >= 0 && !strings.HasPrefix(words[i], "--") {
		i--
	}
	if i < 0 {
		return nil
	}
	flag, err := Find(f.All(), words[i][2:])
	if err != nil {
		return nil
	}
	if _, several := flag.Annotations[Variadic]; !several && i < len(words)-2 {
		return nil
	}
	return flag.Annotations[wordsAnnotation]
}

// Headings calls a function with each heading and the flags below it that the help shows.
func (f *Flags) Headings(visit func(title string, flags []*pflag.Flag)) {
	for _, x := range f.groups {
		var shown []*pflag.Flag
		x.flags.VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden && !f.refused[flag.Name] {
				shown = append(shown, flag)
			}
		})
		if len(shown) > 0 {
			visit(x.title, shown)
		}
	}
}

// titles are the headings of the help.
func (f *Flags) titles() (titles []string) {
	f.Headings(func(title string, _ []*pflag.Flag) { titles = append(titles, title) })
	return titles
}

// helpWidth is how wide the help is.
const helpWidth = 100

// writeMost writes the flags used most, each with the first clause of its text, and how to find the others.
func (f *Flags) writeMost(w io.Writer) {
	shown, all := pflag.NewFlagSet("", pflag.ContinueOnError), f.All()
	shown.SortFlags = false
	for _, name := range f.Most {
		flag := *all.Lookup(name)
		flag.Usage, _, _ = strings.Cut(flag.Usage, ";")
		shown.AddFlag(&flag)
	}
	fmt.Fprintf(w, "\nThe flags used most\n%s\n", shown.FlagUsagesWrapped(helpWidth))
	others := fmt.Sprintf("--help=HEADING lists the flags of one: %s. --help=WORD lists those that mention a word or "+
		"are known by it, --help-all lists all of them.", strings.Join(f.titles(), ", "))
	fmt.Fprint(w, text.Wrap(others, helpWidth))
}

// writeGroups writes the flags to show, under their headings, and reports whether there are any.
func (f *Flags) writeGroups(w io.Writer, groups []group, show func(*pflag.Flag) bool) (any bool) {
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
			fmt.Fprintf(w, "\n%s\n%s", x.title, shown.FlagUsagesWrapped(helpWidth))
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
