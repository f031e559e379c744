package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/spec"
	"benchtop/internal/text"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// formAbout describes a field as the help describes its flag.
func formAbout(flags *pflag.FlagSet, values map[string]string, field string) (name, about string) {
	at := slices.IndexFunc(formFields, func(f formField) bool { return f.Key == field })
	flag := formFields[at].flag(values)
	if _, last := cutLast(values[fieldMore]); field == fieldMore && len(last) > 2 {
		if f, err := argv.Find(flags, strings.Trim(last, "-")); err == nil {
			flag = f.Name
		}
	}
	switch f := flags.Lookup(flag); {
	case field == fieldKey:
		return keyVariable(values),
			"taken from this variable unless given here; never shown, saved or part of the command line"
	case field == fieldStart:
		return "defaults", "the values below; or a saved run or a profile for --config, to change and run again"
	case f == nil && field == fieldMore:
		return "flags of benchtop serve", "as in a shell"
	case f == nil:
	case strings.Trim(f.DefValue, "0.s[]") != "" && f.DefValue != "false":
		return fmt.Sprintf("--%s (default %s)", f.Name, f.DefValue), f.Usage
	default:
		return "--" + f.Name, f.Usage
	}
	return "", ""
}

// cutLast cuts a text in front of its last word.
func cutLast(s string) (before, word string) {
	at := strings.LastIndexByte(s, ' ') + 1
	return s[:at], s[at:]
}

// mostCompleted bounds how many files are listed.
const mostCompleted = 200

// formComplete are the files, data sets of the hub or flags that a text may go on to.
func formComplete(flags *pflag.FlagSet, values map[string]string, field string) (all []string) {
	typed := values[field]
	switch field {
	case fieldMore:
		before, _ := cutLast(typed)
		flags.VisitAll(func(f *pflag.Flag) { all = append(all, before+"--"+f.Name) })
	case fieldFile:
		path := expandHome(typed)
		found, _ := filepath.Glob(path + "*")
		for _, one := range found[:min(len(found), mostCompleted)] {
			all = append(all, typed+strings.TrimPrefix(one, path))
			if info, err := os.Stat(one); err == nil && info.IsDir() {
				all[len(all)-1] += string(filepath.Separator)
			}
		}
		if values[fieldDataset] == "hf" {
			all = append(all, datasets.HubNames()...)
		}
	}
	return all
}

// formStart is what was asked for before: a saved run, or a profile of a file.
type formStart struct {
	name, about string
	settings    []metrics.Setting
}

// mostStarts is how many saved runs the form offers.
const mostStarts = 9

// formStarts are the newest saved runs of serve, and the profiles of the files of flags in the working directory.
func formStarts() (all []formStart) {
	for path, p := range files.Recent(mostStarts) {
		if len(p.Spec) > 0 && len(p.Command) > 0 && p.Command[0] == "serve" {
			about := []string{p.Started.Local().Format("2 Jan 15:04"), p.ModelID, p.Load, p.Dataset}
			all = append(all, formStart{filepath.Base(path), strings.Join(about, " · "), p.Spec})
		}
	}
	found, _ := filepath.Glob("*.y*ml")
	for _, path := range found[:min(len(found), mostStarts)] {
		for _, name := range argv.Profiles(path) {
			asked := spec.New()
			values, _ := argv.ReadFile(path, name)
			_ = asked.Flags.Apply(values) // the form shows what is wrong with the rest
			all = append(all, formStart{path + "#" + name, "profile " + name, asked.Settings()})
		}
	}
	return all
}

// startNamed is the start of a name, nil for none.
func startNamed(all []formStart, name string) *formStart {
	if i := slices.IndexFunc(all, func(s formStart) bool { return s.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// formFilled are the values of the form for what was asked for before, nil for those that it begins with. What no field
// takes is among the flags.
func formFilled(start *formStart) map[string]string {
	values := map[string]string{}
	for _, f := range formFields {
		if values[f.Key] = ""; start == nil {
			values[f.Key] = f.Value
		}
		if f.Value == "" && len(f.Choices) > 0 {
			values[f.Key] = f.Choices[0]
		}
	}
	delete(values, fieldStart)
	if start == nil {
		return values
	}
	of := map[string][]metrics.Setting{}
	for _, s := range start.settings {
		of[s.Flag] = append(of[s.Flag], s)
	}
	values[fieldLoad] = loadFlags
	for _, kind := range [][2]string{{"max-concurrency", loadUsers}, {"request-rate", loadRate},
		{"ramp-up-strategy", loadFlags}, {"ramp-over", loadRamp}, {"stages", loadStages}, {"find", loadFind}} {
		if len(of[kind[0]]) == 1 {
			values[fieldLoad] = kind[1]
		}
	}
	for _, f := range formFields {
		flag := f.flag(values)
		switch given := of[flag]; {
		case f.Key == fieldLoad && flag != "find", !f.matters(values), len(given) != 1,
			len(given[0].Values) != 1 && f.Key != fieldSLO:
			continue
		case f.Key != fieldLoad:
			values[f.Key] = strings.Join(given[0].Values, " ")
		}
		delete(of, flag)
	}
	rest := slices.DeleteFunc(slices.Clone(start.settings), func(s metrics.Setting) bool { return of[s.Flag] == nil })
	values[fieldMore] = strings.Join(argv.ShellWords(metrics.Words(rest))[1:], " ")
	return values
}

// formCost is what a run costs, as far as it is known before: requests, tokens and time.
func formCost(o *spec.Spec) string {
	load, needs := o.Load.Shape(), o.Prompts.Needs()
	var plan metrics.Plan
	o.Load.Plan(&plan, load.Requests(), load.Requests())
	length, timed := plan.Length()
	n, most := float64(load.Requests()), "at most "
	switch load.(type) {
	case shape.Stages, shape.TimedRamp: // the number of arrivals is a matter of chance
		const parts = 1000
		expected, part := 0.0, length/parts
		for i := range time.Duration(parts) {
			expected += plan.Target(i*part+part/2) * part.Seconds()
		}
		if !o.Load.PromptsGiven || expected < n {
			n, most = math.Round(expected), "about "
		}
	case shape.Users, shape.UserStages, shape.Search:
		if !o.Load.PromptsGiven {
			n = 0
		}
	}
	requests, when := most+text.Short(n)+" requests", "time unknown: depends on the server"
	if n == 0 {
		requests = "requests unknown: depends on the server"
	} else if o.Prompts.MultiTurn.On || needs.Sessions {
		n, requests = 0, "requests unknown: depends on the conversations"
	}
	if timed {
		when = "about " + metrics.Duration(length.Round(time.Second)) + ", then the last answers"
	}
	if needs.Aligned && needs.InputLen == 0 { // lengths are drawn around those asked for
		needs.OutputLen = 0
	}
	in := "about " // the server may put a template around a prompt
	if n > 0 && most == "at most " {
		in = "up to about "
	}
	tokens := func(each int, most, unit string) string {
		switch {
		case each == 0:
			return "tokens " + unit + " unknown: depends on the data set"
		case n == 0:
			unit += " each"
		}
		return most + text.Short(max(n, 1)*float64(each)) + " tokens " + unit
	}
	parts := []string{requests, tokens(needs.InputLen, in, "in"),
		tokens(needs.OutputLen, most, "out"), when}
	if o.Series.Many() {
		parts[0] = "each run: " + parts[0]
	}
	return strings.Join(parts, " · ")
}
