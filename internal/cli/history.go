package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"benchtop/internal/argv"
	"benchtop/internal/history"
	"benchtop/internal/session"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/tui/term"
)

const historyText = `
Lists the runs whose results lie in a folder or below it, the newest last: results of benchtop, vllm bench serve,
SGLang's bench_serving, GuideLLM and AIPerf.
DIR is the current folder unless it is given. --figure shows a figure by run instead, among runs of the same model,
workload and load, and names the runs from which on it is another.

  benchtop history results --filter model=*llama* --filter max_concurrency=16
  benchtop history results --figure p99_ttft_ms --figure output_throughput`

type historyOptions struct {
	flags   argv.Flags
	dir     string
	filters []history.Filter
	figures []string
	last    int
	format  string
	rebuild bool
}

func (o *historyOptions) parse(env *session.Environment, args []string) error {
	o.flags = argv.Flags{Synopsis: "history [flags] [DIR]", Text: historyText}
	f := o.flags.Group("Runs")
	f.Var(argv.List(&o.filters, "key=value", history.ParseFilter), "filter",
		"only runs with this value; KEY is model, load, name, workload, or any key of a result, also of its object "+
			"\"benchtop\" or of your --metadata; * stands for any characters; repeatable")
	_ = f.SetAnnotation("filter", argv.Repeatable, nil)
	f.Var(argv.List(&o.figures, "key", argv.Text), "figure",
		"the trend of this key of the results, as p99_ttft_ms, with its changes; repeatable")
	_ = f.SetAnnotation("figure", argv.Repeatable, nil)
	f.IntVar(&o.last, "last", 0, "only so many of the newest runs; 0 for all")
	f.BoolVar(&o.rebuild, "rebuild", false, "read all results again, not only those that are new or changed")
	o.flags.Group("Output").StringVar(&o.format, "format", "text", "format: text, markdown, csv or json")
	rest, err := env.Parse(&o.flags, args)
	if errors.As(err, new(argv.Help)) {
		return err
	}
	p := usage.Problems{err}
	p.BadIf(len(rest) > 1, "history takes one folder, got %d; name the folder above them", len(rest))
	p.OneOf("format", o.format, "text", "markdown", "csv", "json")
	p.BadIf(o.last < 0, "--last %d: must be 0 or more", o.last)
	if o.dir = "."; len(rest) > 0 {
		o.dir = rest[0]
	}
	return errors.Join(p...)
}

func runHistory(env *session.Environment, args []string) int {
	o := &historyOptions{}
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	runs, err := o.read(env)
	if err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	trends := []history.Trend{}
	for _, key := range o.figures {
		of, err := history.Trends(runs, key)
		if err != nil {
			return env.Fail(session.ExitUsage, err)
		}
		trends = append(trends, of...)
	}
	var page string
	switch {
	case o.format == "json" && len(o.figures) > 0:
		page, err = asJSON(trends)
	case o.format == "json":
		page, err = asJSON(runs)
	case len(o.figures) == 0:
		page = o.form(env, o.list(runs))
	case o.format == "text":
		page = trendsText(env, trends)
	default:
		page = o.form(env, trendsTable(trends))
	}
	return env.Failed(errors.Join(err, written(page)(env.Stdout)))
}

// read reads the runs that are asked for, and says what else there is.
func (o *historyOptions) read(env *session.Environment) ([]history.Run, error) {
	dir, err := filepath.Abs(o.dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: no such folder; name one with results", usage.Quote(o.dir))
	}
	if err != nil {
		return nil, err
	}
	index, noPlace := history.IndexPath(dir)
	found, err := history.Read(dir, index, o.rebuild)
	if err != nil {
		return nil, err
	}
	found.Unsaved = cmp.Or(noPlace, found.Unsaved)
	say := func(names []string, noun, why string) {
		if len(names) > 0 {
			env.Say(fmt.Sprintf("%s %s: %s", text.Count(len(names), noun), why, text.List(names, 3)))
		}
	}
	say(found.Others, "other JSON file", "left out, without a result of serving")
	say(found.Interim, "interim result", "left out")
	say(found.Alone, "run", "left out, killed or still on, without a result ('benchtop report FILE' shows it)")
	if found.Left != "" {
		env.Say(found.Left)
	}
	if found.Unsaved != nil {
		env.Warn([]string{fmt.Sprintf("the index is not saved, so the next call reads all results again: %s",
			found.Unsaved)})
	}
	if len(found.Runs) == 0 {
		return nil, fmt.Errorf("%s has no results of serving", o.dir)
	}
	runs, err := history.Keep(found.Runs, o.filters)
	if err == nil && len(runs) == 0 {
		env.Say("no run has all of these values")
	}
	if o.last > 0 {
		runs = runs[max(0, len(runs)-o.last):]
	}
	return runs, err
}

// columnsOfRuns are the figures of a list: a key of the results each, and its name for a person.
var columnsOfRuns = []struct{ key, name string }{
	{"completed", "Requests"}, {"failed", "Failed"}, {"output_throughput", "tok/s"}, {"median_ttft_ms", "TTFT p50"},
	{"p99_ttft_ms", "TTFT p99"}, {"p99_tpot_ms", "TPOT p99"}, {"p99_itl_ms", "ITL p99"},
	{"request_goodput", "Good req/s"},
}

// list is the table of runs. In CSV it has whole texts and numbers.
func (o *historyOptions) list(runs []history.Run) *table.Table {
	t := table.List(text.Count(len(runs), "run")+", latencies in ms", "Started", "Name", "Model", "Load")
	t.Keys = 2
	keys := []string{"model_id"}
	for _, c := range columnsOfRuns {
		keys = append(keys, c.key)
		t.Optional(c.name)
	}
	for i := range runs {
		r := &runs[i]
		values := r.Texts(keys...)
		row := []any{r.Started.Format(time.RFC3339), r.Name, values[0], r.Load}
		if o.format != "csv" {
			row = []any{stamp(r.Started), text.Cut(r.Name, 48), text.Cut(path.Base(values[0]), 24),
				text.Cut(r.Load, 32)}
		}
		for _, v := range values[1:] {
			if n, isNumber := history.Number(v); isNumber && o.format != "csv" {
				v = text.Digits(n, 3)
			}
			row = append(row, v)
		}
		t.Add(row...)
	}
	return t
}

// form is a table in the format that is asked for.
func (o *historyOptions) form(env *session.Environment, t *table.Table) string {
	switch o.format {
	case "csv":
		return t.CSV()
	case "markdown":
		return t.Markdown(table.Escape)
	}
	width, colours := 1000, false
	if session.IsTerminal(env.Stdout) {
		width, colours = max(40, term.Columns(env.Stdout)), os.Getenv("NO_COLOR") == ""
	}
	return strings.TrimPrefix(t.Text(width, colours), "\n")
}

// stamp is the start of a run for a person.
func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// trendsText shows trends as lines of columns, with their changes in words.
func trendsText(env *session.Environment, trends []history.Trend) string {
	var b strings.Builder
	for i := range trends {
		t := &trends[i]
		fmt.Fprintf(&b, "%s of %s\n  %s, %s to %s: %s\n", t.Key, t.Workload, text.Count(len(t.Points), "run"),
			stamp(t.Points[0].Started), stamp(t.Points[len(t.Points)-1].Started), t.Range())
		line := t.Line(max(columns(env.Stdout, 120), 80)-4, term.Plain(os.Getenv))
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(strings.TrimRight(line, "\n"), "\n", "\n  "))
		for _, c := range t.Changes {
			fmt.Fprintf(&b, "  since %s, run %s: %s\n", stamp(c.Started), c.Name, c)
		}
		if t.Note != "" {
			fmt.Fprintf(&b, "  %s\n", t.Note)
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// trendsTable has a row for each run of each trend.
func trendsTable(trends []history.Trend) *table.Table {
	t := table.List("", "Figure", "Workload", "Started", "Name", "Value", "Change")
	for _, of := range trends {
		changes := map[string]string{}
		for _, c := range of.Changes {
			changes[c.Name] = c.String()
		}
		for _, p := range of.Points {
			t.Add(of.Key, of.Workload, p.Started.Format(time.RFC3339), p.Name, fmt.Sprint(p.Value), changes[p.Name])
		}
	}
	return t
}

func asJSON(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return string(text) + "\n", err
}
