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

	"benchtop/export"
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
highest load within limits of latency. Each argument is a configuration: a folder of results, a result, a journal or a
benchmark_results.json, or several of these with commas between them. Results are those of benchtop, vLLM's client,
SGLang's bench_serving, GuideLLM and AIPerf. A single configuration is parted by tensor and pipeline parallel size.

  benchtop compare before.json after.json --fail-on 'p99_ttft_ms>+5%'
  benchtop compare before1.json,before2.json after1.json,after2.json --output comparison.xml
  benchtop compare --ttft-max-ms 500 --tpot-max-ms 50 --output comparison.html before/ after/`

// compareOptions are what is compared and how it is written.
type compareOptions struct {
	compare.Options
	comparison
	files   []string
	latency string
	flags   argv.Flags
}

// comparison is how a comparison is written, and when it fails.
type comparison struct {
	name                   string // of the command
	output, format, csvDir string
	failOn                 []string
	gates                  []compare.Gate
}

// defineGates adds the flag of the conditions.
func (o *comparison) defineGates(f *pflag.FlagSet, text string) {
	f.Var(argv.List(&o.failOn, "condition", argv.Text), "fail-on", text)
	_ = f.SetAnnotation("fail-on", argv.Repeatable, nil)
}

// define adds the flags of the output.
func (o *comparison) define(f *pflag.FlagSet) {
	f.StringVar(&o.output, "output", "",
		"write to this file instead of standard output; its ending chooses the format: .md, .csv, .html, "+
			".json, .xml (JUnit) or .txt")
	f.StringVar(&o.format, "format", "",
		"format: text, markdown, csv, html, json or junit (default: by the file's ending, otherwise text)")
	f.StringVar(&o.csvDir, "csv-out-dir", "", "write each table as a CSV file into this directory, too")
}

// check finds what is wrong with the flags.
func (o *comparison) check(p *usage.Problems) {
	for _, words := range o.failOn {
		g, err := compare.ParseGate(words)
		if err != nil {
			p.Bad("--fail-on %w", err)
		}
		o.gates = append(o.gates, g)
	}
	switch {
	case o.format != "":
		p.OneOf("format", o.format, "text", "markdown", "csv", "html", "json", "junit")
	case o.output == "":
		o.format = "text"
	default:
		o.format = endings[strings.ToLower(filepath.Ext(o.output))]
		p.BadIf(o.format == "", "--output %s: its ending names no format; add --format", usage.Quote(o.output))
	}
}

// conclude writes the tables, says how the conditions ended, and returns the exit code.
func (o *comparison) conclude(env *session.Environment, tables []compare.Table, note string,
	checked []compare.Checked) int {
	if err := o.write(env, tables, note, checked); err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	if note != "" && (o.output != "" || o.format == "csv") {
		env.Say(note)
	}
	code := session.ExitFine
	for _, g := range checked {
		if g.Missed != "" {
			code = session.ExitMissed
		}
		if g.Missed+g.Untested != "" {
			env.Say(g.String())
		}
	}
	return code
}

func newCompareOptions() *compareOptions {
	o := &compareOptions{comparison: comparison{name: "compare"},
		flags: argv.Flags{Synopsis: "compare [flags] A B ...", Text: compareText}}
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
	o.defineGates(f,
		"exit with 3 where the second configuration surely changed by more, at a load, as 'p99_ttft_ms>+5%' or "+
			"'output_throughput<-2%': where all of the 95 % interval is beyond; repeatable")
	o.define(o.flags.Group("Output"))
	inert := o.flags.Group("Accepted without effect")
	inert.String("excel-out", "", "there is no Excel file; see --csv-out-dir")
	inert.Bool("plot", true, "pages have their plots")
	inert.Bool("no-plot", false, "pages have their plots")
	inert.Bool("debug", false, "there are no further columns")
	return o
}

// formats are the forms of tables and of the note below them, by name. A CSV file has no place for a note.
var formats = map[string]func(tables []compare.Table, note string) string{
	"markdown": compare.Markdown, "html": compare.HTML, "csv": compare.CSV, "json": compare.JSON,
}

// endings are the formats of files.
var endings = map[string]string{".md": "markdown", ".csv": "csv", ".html": "html", ".htm": "html", ".txt": "text",
	".json": "json", ".xml": "junit"}

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
	o.check(&p)
	p.BadIf(len(o.gates) > 0 && len(o.files) != 2 && err == nil, "--fail-on: it needs two configurations, got %d",
		len(o.files))
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
	tables, note, checked := o.prove(c, all)
	return o.conclude(env, append(tables, c.Tables()...), note, checked)
}

// prove compares two configurations by their runs: the tables of the evidence, with a note, and the outcomes of
// --fail-on at each load.
func (o *compareOptions) prove(c *compare.Comparison, all []compare.Configuration) (tables []compare.Table,
	note string, checked []compare.Checked) {
	note = c.Caution()
	if len(o.files) != 2 {
		return nil, strings.TrimSpace(c.Apart() + " " + note), nil
	}
	proofs := compare.Prove(&all[0], &all[1])
	for _, g := range o.gates {
		if len(proofs) == 0 {
			checked = append(checked, g.Untested("the two have no workload and load in common"))
		}
	}
	var notes []string
	for i := range proofs {
		p := &proofs[i]
		if tables = append(tables, p.Tables()...); len(p.Rows) > 0 {
			note = ""
		}
		notes = append(notes, p.Note())
		for _, g := range o.gates {
			checked = append(checked, g.Check(p))
		}
	}
	notes = append(notes, compare.Multiplicity(proofs), c.Apart(), note)
	notes = slices.DeleteFunc(notes, func(n string) bool { return n == "" })
	return tables, strings.Join(notes, " "), checked
}

// mostNotes bounds the notes on files that are no results.
const mostNotes = 5

// read reads the configurations. The rows of a single one are parted.
func (o *compareOptions) read(env *session.Environment) (all []compare.Configuration, err error) {
	for _, argument := range o.files {
		c, notes, err := compare.Read(paths(argument))
		if err != nil {
			return nil, err
		}
		if n := len(notes); n > mostNotes {
			notes = append(notes[:mostNotes], fmt.Sprintf("%d further files are no results", n-mostNotes))
		}
		for _, n := range notes {
			env.Say(session.Harmless(n))
		}
		all = append(all, c)
	}
	if len(all) == 1 {
		return compare.Split(all[0].Rows), nil
	}
	for i, label := range labels(o.files) {
		all[i].Label = label
	}
	return all, nil
}

// paths are those of an argument: itself, or those between its commas.
func paths(argument string) []string {
	if _, err := os.Stat(argument); err == nil || !strings.Contains(argument, ",") {
		return []string{argument}
	}
	all := slices.DeleteFunc(strings.Split(argument, ","), func(p string) bool { return p == "" })
	if len(all) == 0 {
		return []string{argument}
	}
	return all
}

// labels are the shortest ends of paths that tell them apart, of several the first with their number. A table is named
// by its folder.
func labels(arguments []string) []string {
	parts := make([][]string, len(arguments))
	for i, argument := range arguments {
		of := paths(argument)
		p := of[0]
		p = filepath.ToSlash(filepath.Clean(p))
		if filepath.Base(p) == dashboard.Table && filepath.Dir(p) != "." {
			p = filepath.ToSlash(filepath.Dir(p))
		}
		if p = strings.TrimSuffix(p, ".json"); len(of) > 1 {
			p += fmt.Sprintf(" and %d more", len(of)-1)
		}
		parts[i] = strings.Split(p, "/")
	}
	out := make([]string, len(arguments))
	for n := 1; ; n++ {
		seen, longer := map[string]int{}, false
		for i, p := range parts {
			out[i] = strings.Join(p[max(0, len(p)-n):], "/")
			seen[out[i]]++
			longer = longer || n < len(p)
		}
		if len(seen) == len(arguments) {
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
func (o *comparison) write(env *session.Environment, tables []compare.Table, note string,
	checked []compare.Checked) (err error) {
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
	switch form := formats[o.format]; {
	case form != nil:
		page = form(tables, note)
	case o.format == "junit":
		suite := export.TestSuite{Name: "benchtop " + o.name, Out: compare.Terminal(tables, note, 1000, false)}
		suite.Add(o.name, "results read", "", "")
		for _, c := range checked {
			suite.Add(c.Load, "not "+c.Gate, c.Missed, c.Untested)
		}
		if page, err = suite.XML(); err != nil {
			return err
		}
	default:
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
