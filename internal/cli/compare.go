package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/compare"
	"benchtop/internal/dashboard"
	"benchtop/internal/files"
	"benchtop/internal/session"
	"benchtop/internal/usage"
	"benchtop/tui/term"
)

const compareText = `
Compares results by load. Of two configurations, it says for each figure whether the second is better, worse, or the
difference may be chance. Then come the ratios of each configuration to the first, above 1 where it is better, and the
highest load within limits of latency. Each argument is a configuration: a folder of results, a result, or a
benchmark_results.json. A single one is parted by tensor and pipeline parallel size.

  benchtop compare before.json after.json --fail-on 'p99_ttft_ms>+5%'
  benchtop compare --ttft-max-ms 500 --tpot-max-ms 50 --output comparison.html before/ after/`

// compareOptions are what is compared and how it is written.
type compareOptions struct {
	compare.Options
	files   []string
	latency string
	output  string
	format  string
	csvDir  string
	failOn  []string
	gates   []compare.Gate
	flags   argv.Flags
}

func newCompareOptions() *compareOptions {
	o := &compareOptions{flags: argv.Flags{Synopsis: "compare [flags] A B ...", Text: compareText}}
	f := o.flags.Group("Comparison")
	f.VarP(argv.List(&o.files, "file", argv.Text), "file", "f",
		"results of a configuration, as an argument; repeatable")
	_ = f.SetAnnotation("file", argv.Repeatable, nil)
	f.StringVarP(&o.X, "xaxis", "x", compare.Concurrency, "column of the load")
	f.StringVarP(&o.latency, "latency", "l", "p99", "latencies to compare: p99 or median")
	f.Float64Var(&o.TTFTMax, "ttft-max-ms", 3000, "limit of TTFT in milliseconds")
	f.Float64Var(&o.TPOTMax, "tpot-max-ms", 100, "limit of TPOT in milliseconds")
	f.Float64Var(&o.TTFTSlack, "ttft-slack-pct", 5, "percent above the limit of TTFT that still pass")
	f.Float64Var(&o.TPOTSlack, "tpot-slack-pct", 5, "percent above the limit of TPOT that still pass")
	f.Var(argv.List(&o.failOn, "condition", argv.Text), "fail-on",
		"exit with 3 where the second configuration surely changed by more, at a load, as 'p99_ttft_ms>+5%' or "+
			"'output_throughput<-2%': where all of the 95 % interval is beyond; repeatable")
	_ = f.SetAnnotation("fail-on", argv.Repeatable, nil)
	f = o.flags.Group("Output")
	f.StringVar(&o.output, "output", "",
		"write to this file instead of standard output; its ending chooses the format: .md, .csv, .html or .txt")
	f.StringVar(&o.format, "format", "",
		"format: text, markdown, csv or html (default: by the file's ending, otherwise text)")
	f.StringVar(&o.csvDir, "csv-out-dir", "", "write each table as a CSV file into this directory, too")
	inert := o.flags.Group("Accepted without effect")
	inert.String("excel-out", "", "there is no Excel file; see --csv-out-dir")
	inert.Bool("plot", true, "pages have their plots")
	inert.Bool("no-plot", false, "pages have their plots")
	inert.Bool("debug", false, "there are no further columns")
	return o
}

// formats are the forms of tables and of the note below them, by name. A CSV file has no place for a note.
var formats = map[string]func(tables []compare.Table, note string) string{
	"markdown": compare.Markdown, "html": compare.HTML, "csv": compare.CSV,
}

// endings are the formats of files.
var endings = map[string]string{".md": "markdown", ".csv": "csv", ".html": "html", ".htm": "html", ".txt": "text"}

func (o *compareOptions) parse(env *session.Environment, args []string) error {
	rest, err := env.Parse(&o.flags, args)
	if errors.As(err, new(argv.Help)) {
		return err
	}
	p := usage.Problems{err}
	o.files = append(o.files, rest...)
	p.BadIf(len(o.files) == 0 && err == nil, "compare takes files or folders, got none; see 'benchtop compare --help'")
	o.latency = strings.ToLower(o.latency)
	p.OneOf("latency", o.latency, "p99", "median")
	o.Median = o.latency == "median"
	for _, l := range []struct {
		flag  string
		value float64
	}{{"ttft-max-ms", o.TTFTMax}, {"tpot-max-ms", o.TPOTMax}, {"ttft-slack-pct", o.TTFTSlack},
		{"tpot-slack-pct", o.TPOTSlack}} {
		p.BadIf(!(l.value >= 0), "--%s %g: must not be negative", l.flag, l.value)
	}
	p.BadIf(!slices.Contains(compare.Keys, o.X), "--xaxis %s: use one of %s", usage.Quote(o.X),
		strings.Join(compare.Keys, ", "))
	for _, words := range o.failOn {
		g, err := compare.ParseGate(words)
		if err != nil {
			p.Bad("--fail-on %w", err)
		}
		o.gates = append(o.gates, g)
	}
	p.BadIf(len(o.gates) > 0 && len(o.files) != 2 && err == nil, "--fail-on: it needs two configurations, got %d",
		len(o.files))
	if o.format == "" {
		o.format = endings[strings.ToLower(filepath.Ext(o.output))]
		p.BadIf(o.format == "" && o.output != "", "--output %s: its ending names no format; add --format",
			usage.Quote(o.output))
		if o.output == "" {
			o.format = "text"
		}
	} else {
		p.OneOf("format", o.format, "text", "markdown", "csv", "html")
	}
	o.flags.Group("Accepted without effect").VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			env.Warn([]string{fmt.Sprintf("--%s has no effect: %s", f.Name, f.Usage)})
		}
	})
	return errors.Join(p...)
}

func runCompare(env *session.Environment, args []string) int {
	o := newCompareOptions()
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	all, err := o.read(env)
	if err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	c, err := compare.Of(all, o.Options)
	if err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	tables, note, missed, err := o.prove(env, c)
	if err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	if err := o.write(env, append(tables, c.Tables()...), note); err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	if note != "" && (o.output != "" || o.format == "csv") {
		env.Say(note)
	}
	for _, m := range missed {
		env.Say(m)
	}
	if len(missed) > 0 {
		return session.ExitMissed
	}
	return session.ExitFine
}

// prove compares two configurations by their runs: the tables of the evidence, with a note, and the --fail-on
// conditions that are met.
func (o *compareOptions) prove(env *session.Environment, c *compare.Comparison) (tables []compare.Table, note string,
	missed []string, err error) {
	note = c.Caution()
	if len(o.files) != 2 {
		return nil, strings.TrimSpace(c.Apart() + " " + note), nil, nil
	}
	proofs, err := compare.Prove([2]string(o.files), [2]string(c.Labels))
	if err != nil {
		return nil, note, nil, err
	}
	if len(o.gates) > 0 && len(proofs) == 0 {
		env.Say("--fail-on: not tested, since the two have no workload and load in common")
	}
	var notes []string
	for i := range proofs {
		p := &proofs[i]
		if tables = append(tables, p.Tables()...); len(p.Rows) > 0 {
			note = ""
		}
		if n := p.Note(); n != "" {
			notes = append(notes, n)
		}
		for _, g := range o.gates {
			fired, untested := g.Check(p)
			if fired != "" {
				missed = append(missed, fired)
			}
			if untested != "" {
				env.Say(untested)
			}
		}
	}
	notes = slices.DeleteFunc(append(notes, c.Apart(), note), func(n string) bool { return n == "" })
	return tables, strings.Join(notes, " "), missed, nil
}

// mostNotes bounds the notes on files that are no results.
const mostNotes = 5

// read reads the configurations. The rows of a single one are parted.
func (o *compareOptions) read(env *session.Environment) (all []compare.Configuration, err error) {
	for _, path := range o.files {
		rows, notes, err := dashboard.Read(path)
		if err != nil {
			return nil, err
		}
		if n := len(notes); n > mostNotes {
			notes = append(notes[:mostNotes], fmt.Sprintf("%d further files are no results", n-mostNotes))
		}
		for _, n := range notes {
			env.Say(session.Harmless(n))
		}
		all = append(all, compare.Configuration{Label: path, Rows: rows})
	}
	if len(all) == 1 {
		return compare.Split(all[0].Rows), nil
	}
	for i, label := range labels(o.files) {
		all[i].Label = label
	}
	return all, nil
}

// labels are the shortest ends of paths that tell them apart. A table is named by its folder.
func labels(paths []string) []string {
	parts := make([][]string, len(paths))
	for i, p := range paths {
		p = filepath.ToSlash(filepath.Clean(p))
		if filepath.Base(p) == dashboard.Table && filepath.Dir(p) != "." {
			p = filepath.ToSlash(filepath.Dir(p))
		}
		parts[i] = strings.Split(strings.TrimSuffix(p, ".json"), "/")
	}
	out := make([]string, len(paths))
	for n := 1; ; n++ {
		seen, longer := map[string]int{}, false
		for i, p := range parts {
			out[i] = strings.Join(p[max(0, len(p)-n):], "/")
			seen[out[i]]++
			longer = longer || n < len(p)
		}
		if len(seen) == len(paths) {
			return out
		}
		if !longer { // the same path twice
			for i := range out {
				out[i] = fmt.Sprintf("%s (%d)", out[i], i+1)
			}
			return out
		}
	}
}

// write writes the tables and the note to where they were asked for.
func (o *compareOptions) write(env *session.Environment, tables []compare.Table, note string) error {
	if o.csvDir != "" {
		if err := os.MkdirAll(o.csvDir, 0o777); err != nil {
			return fmt.Errorf("--csv-out-dir: %w", err)
		}
		for i, t := range tables {
			name := fmt.Sprintf("%02d_%s.csv", i+1, dashboard.FileName(t.Group+"__"+t.Title))
			text := compare.CSV([]compare.Table{t}, "")
			if err := files.Write(filepath.Join(o.csvDir, name), written(text)); err != nil {
				return fmt.Errorf("--csv-out-dir: %w", err)
			}
		}
		env.Say("saved in " + o.csvDir)
	}
	page := ""
	if form := formats[o.format]; form != nil {
		page = form(tables, note)
	} else {
		width, colours := 1000, false
		if o.output == "" && session.IsTerminal(env.Stdout) {
			width, colours = max(40, term.Columns(env.Stdout)), os.Getenv("NO_COLOR") == ""
		}
		page = compare.Terminal(tables, note, width, colours)
	}
	if o.output == "" {
		return written(page)(env.Stdout)
	}
	if err := files.Write(o.output, written(page)); err != nil {
		return fmt.Errorf("--output: %w; choose another file", err)
	}
	env.Say("saved in " + o.output)
	return nil
}

// written writes a text.
func written(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}
