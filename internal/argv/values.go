package argv

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/secret"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Value is a flag with what it is given, by a command line, a file, a preset or a sweep.
type Value struct {
	// Name is that of the flag, with dashes or underscores; of a member of a JSON flag with its keys behind dots.
	Name string
	// Texts are the values as on a command line: one for most flags, none for a flag that may stand without any.
	Texts []string
	// Listed says that Texts are a list in a file, whatever their number. Object is the value as JSON for flags of
	// JSON, "" for none; that of a mapping of single values has KEY=VALUE as Texts.
	Listed bool
	Object string
	// Where is the line of the file, the zero Place for elsewhere.
	Where Place
	// wrong is an error of the value as JSON or as a list, told once it is known that there is such a flag.
	wrong error
}

// Place is a line of a file; the zero value is none.
type Place struct {
	File string
	Line int
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// PlaceError is a problem at a place.
type PlaceError struct {
	At  Place
	Err error
}

func (e PlaceError) Error() string { return e.At.String() + ": " + e.Err.Error() }

// Unwrap is the problem alone.
func (e PlaceError) Unwrap() error { return e.Err }

// ByLine sorts problems of a file by their lines, behind those of the whole file.
func ByLine(p usage.Problems) usage.Problems {
	line := func(err error) int {
		at, _ := errors.AsType[PlaceError](err)
		return at.At.Line
	}
	slices.SortStableFunc(p, func(a, b error) int { return line(a) - line(b) })
	return p
}

var flagName = regexp.MustCompile(`--[a-z0-9-]+`)

// Placed are problems, a line each, with the place of the first flag that it names, by places of flags; "" is that of
// problems without one.
func Placed(p usage.Problems, places map[string]string) (all usage.Problems) {
	err := errors.Join(p...)
	if err == nil {
		return nil
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		at, flags := places[""], flagName.FindAllString(line, -1)
		if i := slices.IndexFunc(flags, func(f string) bool { return places[f[2:]] != "" }); i >= 0 {
			at = places[flags[i][2:]]
		}
		if at != "" && !strings.HasPrefix(line, at) {
			line = at + ": " + line
		}
		all = append(all, errors.New(line))
	}
	return all
}

// To is a flag with one value.
func To(name string, value any) Value { return Value{Name: name, Texts: []string{fmt.Sprint(value)}} }

// Apply gives flags their values, over those that they have. The problems name where a value stands.
func (f *Flags) Apply(values []Value) usage.Problems { return f.apply(values, f.record) }

// Default is Apply for the flags that were not given.
func (f *Flags) Default(values []Value) usage.Problems { return f.apply(f.missing(values), f.record) }

// Preset is Default for values that follow from others, so that they are not among the Values.
func (f *Flags) Preset(values ...Value) usage.Problems { return f.apply(f.missing(values), nil) }

// missing are the values of flags that have none yet.
func (f *Flags) missing(values []Value) []Value {
	all := f.All()
	return slices.DeleteFunc(slices.Clone(values), func(v Value) bool {
		flag, _, _ := strings.Cut(Dashes(v.Name), ".")
		return all.Changed(flag)
	})
}

func (f *Flags) apply(values []Value, given func(*pflag.Flag, string, []string)) usage.Problems {
	a := &argv{fs: f.All(), times: map[*pflag.Flag]int{}, given: given}
	for _, v := range values {
		before := len(a.problems)
		a.apply(v)
		for i, err := range a.problems[before:] {
			if v.Where != (Place{}) && !errors.As(err, new(PlaceError)) {
				a.problems[before+i] = PlaceError{v.Where, err}
			}
		}
	}
	return a.problems
}

// apply sets the flag of one value.
func (a *argv) apply(v Value) {
	name, keys, dotted := strings.Cut(v.Name, ".")
	name = Dashes(name)
	flag := a.fs.Lookup(name)
	if flag == nil {
		hint := usage.DidYouMean(name, slices.DeleteFunc(flagNames(a.fs), func(n string) bool { return n == "help" }))
		if name == "help" {
			hint = "; it is for the command line alone"
		}
		a.problem("%s: unknown flag%s", usage.Quote(v.Name), hint)
		return
	}
	if v.Where != (Place{}) {
		known := doubts(flag)
		defer func() {
			for _, doubt := range doubts(flag)[len(known):] {
				a.problem("%s; keep one", strings.TrimSuffix(doubt, "; the last one applies"))
			}
		}()
	}
	_, variadic := flag.Annotations[Variadic]
	_, object := flag.Value.(keySetter)
	mapping := v.Object != "" && !dotted
	texts := v.Texts
	switch {
	case mapping && !object && !variadic:
		a.problem("--%s: expected %s, not a mapping", flag.Name, kind(flag))
		return
	case mapping && !object && (texts != nil || v.Object == "{}"):
	case mapping && !object && v.wrong == nil:
		a.problem("--%s: expected names with single values", flag.Name)
		return
	case v.wrong != nil:
		a.problems = append(a.problems, v.wrong)
		return
	case v.Object != "":
		texts = []string{v.Object}
	case v.Listed && object && !dotted:
		a.problem("--%s: expected %s, not a list", flag.Name, kind(flag))
		return
	case len(texts) == 0 && !v.Listed && !variadic:
		a.problem("--%s: a value is missing; expected %s", flag.Name, kind(flag))
		return
	case v.Listed && !variadic && !isRepeatable(flag):
		texts = []string{strings.Join(texts, ",")}
	case !v.Listed && variadic && len(texts) == 1 && v.Where != (Place{}):
		texts = wordsOf(flag, texts[0])
	}
	if dotted {
		for _, text := range texts {
			a.member(flag, keys, text, true)
		}
		return
	}
	a.set(flag, texts)
}

// doubts are about members of a flag of JSON that were given more than once: on a command line a warning, in a file a
// problem.
func doubts(flag *pflag.Flag) []string {
	if d, ok := flag.Value.(warner); ok {
		return d.Warnings("--" + flag.Name)
	}
	return nil
}

// wordsOf are those of a line in a file, as on a command line. The value of a header may have blanks.
func wordsOf(flag *pflag.Flag, line string) []string {
	all := strings.Fields(line)
	if _, pairs := flag.Value.(*Pairs); pairs &&
		slices.ContainsFunc(all, func(w string) bool { return !strings.Contains(w, "=") }) {
		return []string{line}
	}
	return all
}

// Values are the flags that were given, in the order of the first time, with what they were given last: as many as make
// the same run again. They may hold secrets.
func (f *Flags) Values() []Value { return slices.Clone(f.given) }

// record notes what a flag was given.
func (f *Flags) record(flag *pflag.Flag, member string, texts []string) {
	name := flag.Name + member
	i := slices.IndexFunc(f.given, func(v Value) bool { return v.Name == name })
	switch {
	case i < 0:
		f.given = append(f.given, Value{Name: name, Texts: slices.Clone(texts)})
	case isRepeatable(flag):
		f.given[i].Texts = append(f.given[i].Texts, texts...)
	case strings.HasSuffix(member, "+"): // each adds to a list
		f.given[i].Texts = []string{f.given[i].Texts[0] + "," + texts[0]}
	default:
		f.given[i].Texts = slices.Clone(texts)
	}
}

// valueOf is the part of KEY=VALUE behind the first =.
func valueOf(pair string) string {
	_, value, _ := strings.Cut(pair, "=")
	return strings.TrimSpace(value)
}

// Settings are values for people and results, without secrets.
func (f *Flags) Settings(values []Value, secrets []string) (all []metrics.Setting) {
	flags := f.All()
	for _, v := range values {
		name, _, _ := strings.Cut(v.Name, ".")
		safe := secret.HideWords(append([]string{"--" + v.Name}, v.Texts...), secrets)[1:]
		for i, t := range v.Texts { // the name of a variable or a file is no secret, and makes the run again
			if v.Name == "header" && secret.Reference.MatchString(valueOf(t)) || secret.Shows(v.Name, t) {
				safe[i] = t
			}
		}
		if !isRepeatable(flags.Lookup(name)) {
			all = append(all, metrics.Setting{Flag: v.Name, Values: safe})
			continue
		}
		for _, text := range safe {
			all = append(all, metrics.Setting{Flag: v.Name, Values: []string{text}})
		}
	}
	return all
}
