// Package export turns the report of a run into files and text: the result file with vLLM's keys, the report as text
// with its remarks, plots and answer. Its figures come from metrics, except those of decoding counters, which are
// computed here. The package journal writes and reads the journal of a run.
//
//	journal ──events──▶ report.Of ──metrics.Report──▶ JSON, PyTorch, Text, Telemetry, Remarks, Plots, Answer
package export

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"benchtop/internal/pyjson"
	"benchtop/metrics"
)

// dateLayout is the form of dates in vLLM's results, in local time.
const dateLayout = "20060102-150405"

// FileName is the name that vLLM gives to the result of such a run, with two differences: the date is the start of the
// run, and characters that are unsafe in a file name become "_". Loads unknown to vLLM have names of the same form: a
// ramp over time by its duration, stages by their rates or users, a search by its first load.
func FileName(p metrics.Plan) string {
	name := cmp.Or(p.Label, p.Backend)
	load := loadPart(&p)
	if _, users := configured(&p); users > 0 {
		load += fmt.Sprintf("-concurrency%d", users)
	}
	model := p.ModelID[strings.LastIndexByte(p.ModelID, '/')+1:]
	name = fmt.Sprintf("%s-%s-%s-%s.json", safe(name), load, safe(model), date(p.Started))
	if name[0] == '.' || name[0] == '-' { // a hidden file, or a flag of the next command
		name = "_" + name[1:]
	}
	return name
}

func loadPart(p *metrics.Plan) string {
	switch {
	case p.Ramp != nil:
		load := fmt.Sprintf("ramp-up-%s-%sqps-%sqps", safe(p.Ramp.Strategy), pythonNumber(p.Ramp.From),
			pythonNumber(p.Ramp.To))
		if p.Ramp.Over > 0 {
			load += "-over" + metrics.Duration(p.Ramp.Over)
		}
		return load
	case len(p.Stages) > 0:
		return "stages-" + stagesPart(p.Stages)
	case p.Find != nil:
		return "find-from-" + pythonNumber(p.Find.From) + unitPart(p.Find.Unit)
	}
	return pyjson.Float(float64(p.Rate)) + "qps"
}

// maxNamedStages is the number of stages that a name lists.
const maxNamedStages = 5

func stagesPart(stages []metrics.Stage) string {
	loads := metrics.Each(stages, func(s metrics.Stage) string { return pythonNumber(s.Value) })
	unit := unitPart(stages[0].Unit)
	if n := len(loads); n > maxNamedStages {
		return fmt.Sprintf("%dx-%s-to-%s%s", n, loads[0], loads[n-1], unit)
	}
	return strings.Join(loads, "-") + unit
}

// unitPart is the unit of a load in a file name.
func unitPart(unit metrics.Unit) string {
	if unit == metrics.Users {
		return unit.String()
	}
	return "qps"
}

func date(t time.Time) string { return t.Local().Format(dateLayout) }

// maxPartBytes keeps the whole name with its extensions below the 255 bytes that file systems allow.
const maxPartBytes = 80

// safe replaces all characters but letters, digits and a few harmless ones in a part of a file name.
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
	return strings.ToValidUTF8(s[:min(len(s), maxPartBytes)], "") // drops a character that was cut
}
