package export

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"benchtop/internal/pyjson"
	"benchtop/metrics"
)

// dateLayout is vLLM's form of a date, in local time.
const dateLayout = "20060102-150405"

// FileName is the name vLLM gives the result of such a run, except that its date is the start of the run, and that
// characters which are not safe in a file name become "_". Loads vLLM does not know are named alike: a ramp in time by
// how long it takes, stages by their rates or users, a search by where it begins.
func FileName(p metrics.Plan) string {
	name := p.Label
	if name == "" {
		name = p.Backend
	}
	load := loadPart(&p)
	if _, users := configured(&p); users > 0 {
		load += fmt.Sprintf("-concurrency%d", users)
	}
	model := p.ModelID[strings.LastIndexByte(p.ModelID, '/')+1:]
	name = fmt.Sprintf("%s-%s-%s-%s.json", safe(name), load, safe(model), date(p.Started))
	if name[0] == '.' || name[0] == '-' { // a hidden file, or an option to the next command
		name = "_" + name[1:]
	}
	return name
}

func loadPart(p *metrics.Plan) string {
	switch {
	case p.Ramp != nil:
		load := fmt.Sprintf("ramp-up-%s-%sqps-%sqps", safe(p.Ramp.Strategy), pythonNumber(p.Ramp.From), pythonNumber(p.Ramp.To))
		if p.Ramp.Over > 0 {
			load += "-over" + metrics.Duration(p.Ramp.Over)
		}
		return load
	case len(p.Stages) > 0:
		return "stages-" + stagesPart(p.Stages)
	case p.Find != nil && p.Find.Users:
		return "find-from-" + pythonNumber(p.Find.From) + "users"
	case p.Find != nil:
		return "find-from-" + pythonNumber(p.Find.From) + "qps"
	}
	return pyjson.Float(float64(p.Rate)) + "qps"
}

// maxNamedStages is how many stages a name tells one by one.
const maxNamedStages = 5

func stagesPart(stages []metrics.Stage) string {
	unit := "qps"
	var loads []string
	for _, s := range stages {
		load := s.Rate
		if s.Users > 0 {
			load, unit = float64(s.Users), "users"
		}
		loads = append(loads, pythonNumber(load))
	}
	if n := len(loads); n > maxNamedStages {
		return fmt.Sprintf("%dx-%s-to-%s%s", n, loads[0], loads[n-1], unit)
	}
	return strings.Join(loads, "-") + unit
}

func date(t time.Time) string { return t.Local().Format(dateLayout) }

// maxPartBytes in bytes keeps the whole name, endings included, below the 255 bytes that file systems allow.
const maxPartBytes = 80

// safe keeps letters, digits and a few harmless signs of a part of a file name.
func safe(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return '_'
		case unicode.In(r, unicode.L, unicode.Mn, unicode.Mc, unicode.Nd), strings.ContainsRune("._-+=@,", r):
			return r
		}
		return '_'
	}, s)
	return strings.ToValidUTF8(s[:min(len(s), maxPartBytes)], "") // without a character that was cut
}
