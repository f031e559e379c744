package export

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"benchtop/metrics"
)

// dateLayout is vLLM's form of a date, in local time.
const dateLayout = "20060102-150405"

// FileName is the name vLLM gives the result of such a run, except that its date is the start of the run, and that
// characters which are not safe in a file name become "_".
func FileName(p metrics.Plan) string {
	name := p.Label
	if name == "" {
		name = p.Backend
	}
	load := pythonFloat(float64(p.Rate)) + "qps"
	if p.Ramp != nil {
		load = fmt.Sprintf("ramp-up-%s-%sqps-%sqps", safe(p.Ramp.Strategy), pythonNumber(p.Ramp.From), pythonNumber(p.Ramp.To))
	}
	if p.MaxConcurrency > 0 {
		load += fmt.Sprintf("-concurrency%d", p.MaxConcurrency)
	}
	model := p.ModelID[strings.LastIndexByte(p.ModelID, '/')+1:]
	name = fmt.Sprintf("%s-%s-%s-%s.json", safe(name), load, safe(model), date(p.Started))
	if name[0] == '.' || name[0] == '-' { // a hidden file, or an option to the next command
		name = "_" + name[1:]
	}
	return name
}

func date(t time.Time) string { return t.Local().Format(dateLayout) }

// longestPart in bytes keeps the whole name, endings included, below the 255 bytes that file systems allow.
const longestPart = 80

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
	if len(s) <= longestPart {
		return s
	}
	end := longestPart
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
