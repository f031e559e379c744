package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/export/charts"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/jsonscan"
	"benchtop/internal/launch"
	"benchtop/internal/session"
	"benchtop/internal/sweep"
	"benchtop/internal/sweep/plot"
	"benchtop/internal/usage"
	"benchtop/tui/term"
)

const plotText = `
Draws the runs of a sweep as curves: all summary.json files of EXPERIMENT_DIR and below it, of 'benchtop sweep' or of vLLM. Runs
with the same x are one point, their mean, in a band of one standard deviation.

  benchtop sweep plot results/20261123_101500 --var-x max_concurrency --curve-by max_num_seqs
  benchtop sweep plot results/big --filter-by 'max_concurrency<=64,backend==vllm' --bin-by request_throughput%5 --col-by random_input_len

A filter compares a field with a value by one of ` + "== != <= >= < >" + `; a bin rounds a field down to multiples of a size.`

const paretoText = `
Draws output tokens per second for each user against those for each GPU, a point for each run of a sweep, and the front of the runs
that no other run beats in one without losing in the other. Those for each user are the median speed at which answers come; the page has
vLLM's tokens_per_user, throughput / users, besides.

  benchtop sweep plot_pareto results/20261123_101500 --label-by max_concurrency,tensor_parallel_size

The number of GPUs is --gpu-count-var, or tensor_parallel_size × pipeline_parallel_size × data_parallel_size as far as the records have
them.`

// drawOptions say how figures are drawn and where they go.
type drawOptions struct {
	directory, figDir  string
	formats            fieldList
	height, resolution float64
	dryRun             bool
}

// formats are the forms of a figure, besides the terminal's: the ends of the files' names.
var pictureFormats = []string{"png", "svg", "html"}

const terminalFormat = "terminal"

func (o *drawOptions) define(f *pflag.FlagSet, height, dpi float64) {
	f.StringVar(&o.figDir, "fig-dir", "", "directory of the figures, relative to EXPERIMENT_DIR")
	o.formats = fieldList{"png", "html"}
	f.Var(&o.formats, "format",
		"forms of a figure, a comma list of png, svg, html, terminal; a terminal always gets the last")
	f.Float64Var(&o.height, "fig-height", height, "height of a panel in inches")
	f.Float64Var(&o.resolution, "fig-dpi", dpi, "dots per inch of a PNG")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the figures that would be drawn, and draw none")
}

// parse reads a command line with one directory, and reports all that is wrong with it together with what check finds.
func (o *drawOptions) parse(env *session.Environment, flags *argv.Flags, args []string,
	check func(*usage.Problems)) error {
	rest, err := env.Parse(flags, args)
	problems := usage.Problems{err}
	if len(rest) == 1 {
		o.directory = rest[0]
		if info, err := os.Stat(o.directory); err != nil || !info.IsDir() {
			problems.Bad("%s: not a directory; give that of a sweep, such as results/NAME", usage.Quote(o.directory))
		}
	} else {
		problems.Bad("expected one argument, the directory of a sweep, got %d: see --help", len(rest))
	}
	for _, f := range o.formats {
		problems.OneOf("format", f, append(slices.Clone(pictureFormats), terminalFormat)...)
	}
	if session.IsTerminal(env.Stdout) && !slices.Contains(o.formats, terminalFormat) {
		o.formats = append(o.formats, terminalFormat)
	}
	problems.BadIf(len(o.formats) == 0, "--format: expected at least one of %s, %s",
		strings.Join(pictureFormats, ", "), terminalFormat)
	problems.BadIf(!(o.height >= 1 && o.height <= 100), "--fig-height %v: must be between 1 and 100 inches", o.height)
	problems.BadIf(!(o.resolution >= 20 && o.resolution <= 2400),
		"--fig-dpi %v: must be between 20 and 2400", o.resolution)
	check(&problems)
	return errors.Join(problems...)
}

// draw writes a figure in all forms, and says where; one without data is in no file. The name is a path below the
// directory of figures, without an end.
func (o *drawOptions) draw(env *session.Environment, f *charts.Figure, name string) error {
	if len(f.Panels) == 0 {
		return nil
	}
	into := o.figDir
	if !filepath.IsAbs(into) {
		into = filepath.Join(o.directory, into)
	}
	var failed []error // a form that fails does not keep the others from being written
	for _, format := range o.formats {
		if format == terminalFormat {
			continue
		}
		path := filepath.Join(into, name+"."+format)
		fmt.Fprintf(env.Stdout, "Output file: %s\n", session.Harmless(path))
		if o.dryRun {
			continue
		}
		err := files.Write(path, func(w io.Writer) error {
			switch format {
			case "html":
				return f.HTML(w)
			case "svg":
				return f.Drawing(o.height).SVG(w)
			}
			return f.Drawing(o.height).PNG(w, o.resolution)
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", path, err))
		}
	}
	if !o.dryRun && slices.Contains(o.formats, terminalFormat) {
		fmt.Fprintln(env.Stdout)
		failed = append(failed,
			f.Text(env.Stdout, charts.TextOptions{Width: columns(env.Stdout, 120), ASCII: term.Plain(os.Getenv)}))
	}
	return errors.Join(failed...)
}

// hideField takes secrets out of the value of a record's field, which may be a parameter of the server or the client.
func hideField(key, text string) string {
	return launch.Hide([]string{"--" + argv.Dashes(key), text})[1]
}

// fieldList is a flag with a comma list.
type fieldList []string

func (l *fieldList) Set(list string) error { *l = plot.Split(list); return nil }

func (l *fieldList) String() string { return strings.Join(*l, ",") }

func (*fieldList) Type() string { return "string" }

func runSweepPlot(env *session.Environment, args []string) int {
	var o plot.Options
	var draw drawOptions
	flags := argv.Flags{Synopsis: "sweep plot [flags] EXPERIMENT_DIR", Text: plotText}
	f := flags.Group("Figures")
	f.Var((*fieldList)(&o.FigBy), "fig-by", "fields that make a figure of its own, a comma list")
	f.Var((*fieldList)(&o.RowBy), "row-by", "fields that make a row of panels")
	f.Var((*fieldList)(&o.ColBy), "col-by", "fields that make a column of panels")
	f.Var((*fieldList)(&o.CurveBy), "curve-by",
		"fields that make a curve; the first three are its colour, dashes and width")
	f.StringVar(&o.X, "var-x", "total_token_throughput", "field of the horizontal axis")
	f.StringVar(&o.Y, "var-y", "median_ttft_ms", "field of the vertical axis")
	filters := f.String("filter-by", "", "runs to draw, a comma list such as max_concurrency<=64")
	bins := f.String("bin-by", "", "fields to round down, a comma list such as request_throughput%5")
	scaleX := f.String("scale-x", "", "scale of the horizontal axis: linear, log, sqrt, symlog")
	scaleY := f.String("scale-y", "", "scale of the vertical axis")
	name := f.String("fig-name", "FIGURE", "begin of the names of figures")
	noBands := f.Bool("no-error-bars", false, "leave out the bands of one standard deviation")
	draw.define(flags.Group("Output"), 6.4, 300)
	err := draw.parse(env, &flags, args, func(problems *usage.Problems) {
		var err error
		o.Filters, err = plot.ParseFilters(*filters)
		problems.Flag("filter-by", err)
		o.Bins, err = plot.ParseBins(*bins)
		problems.Flag("bin-by", err)
		o.ScaleX, err = charts.ParseScale(*scaleX)
		problems.Flag("scale-x", err)
		o.ScaleY, err = charts.ParseScale(*scaleY)
		problems.Flag("scale-y", err)
	})
	if err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	o.Bands = !*noBands
	return env.Failed(session.UntilStopped(func(ctx context.Context) error {
		records, err := plot.Read(draw.directory, hideField)
		if err != nil {
			return err
		}
		figures, err := plot.Figures(records, o)
		if err != nil {
			return usage.Wrap(err)
		}
		stems := figureStems{}
		for i := range figures {
			if err := ctx.Err(); err != nil {
				return err
			}
			g := &figures[i]
			fmt.Fprintf(env.Stdout, "[BEGIN FIGURE]\nGroup: %s\nGrid: %d rows x %d cols\n",
				groupText(g.Group), g.Rows, g.Columns)
			if err := draw.draw(env, &g.Chart, stems.next(*name, g.Group)); err != nil {
				return err
			}
			if len(g.Chart.Panels) == 0 {
				fmt.Fprintf(env.Stdout, "No data to plot. Filters: %s\n", session.Harmless(*filters))
			}
			for _, note := range g.Chart.Notes {
				env.Say(note)
			}
			fmt.Fprint(env.Stdout, "[END FIGURE]\n")
		}
		return nil
	}))
}

// figureStems are the names of files without their extensions, and how many figures asked for each.
type figureStems map[string]int

// next is the name for the figure of a group. Groups may differ in nothing that a file name can have.
func (s figureStems) next(name string, group [][2]string) string {
	for _, p := range group {
		name += "-" + p[0] + "=" + p[1]
	}
	stem := sweep.FileName(name)
	if s[stem]++; s[stem] > 1 {
		return fmt.Sprintf("%s-%d", stem, s[stem])
	}
	return stem
}

// groupText is a group as Python prints it.
func groupText(pairs [][2]string) string {
	var group sweep.Item
	for _, p := range pairs {
		group = group.With(p[0], string(jsonscan.Quote(p[1])))
	}
	return group.Repr()
}

func runSweepPareto(env *session.Environment, args []string) int {
	var o plot.ParetoOptions
	var draw drawOptions
	flags := argv.Flags{Synopsis: "sweep plot_pareto [flags] EXPERIMENT_DIR", Text: paretoText}
	f := flags.Group("Figure")
	f.StringVar(&o.Users, "user-count-var", "", "field with the number of users, who then share the throughput as in "+
		"vLLM's plot; where a run has none, the most requests in flight count (default: the users' own speed)")
	f.StringVar(&o.GPUs, "gpu-count-var", "",
		"field with the number of GPUs (default: the product of the parallel sizes)")
	o.LabelBy = []string{"max_concurrency", "gpu_count"}
	f.Var((*fieldList)(&o.LabelBy), "label-by", "fields beside the points of the front, a comma list")
	draw.define(flags.Group("Output"), 6.4, 150)
	if err := draw.parse(env, &flags, args, func(*usage.Problems) {}); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	return env.Failed(session.UntilStopped(func(context.Context) error {
		records, err := plot.Read(draw.directory, hideField)
		if err != nil {
			return err
		}
		var wrong []error
		if o.Users != "" && o.Users != plot.DefaultUsers {
			wrong = append(wrong, plot.CheckKeys(records, "user-count-var", o.Users))
		}
		if o.GPUs != "" {
			wrong = append(wrong, plot.CheckKeys(records, "gpu-count-var", o.GPUs))
		}
		if err := errors.Join(wrong...); err != nil {
			return usage.Wrap(err)
		}
		p, err := plot.NewPareto(records, o)
		if err != nil {
			return err
		}
		if p.Skipped > 0 {
			fmt.Fprintf(env.Stdout, "Skipped %d runs without a user count (%s).\n",
				p.Skipped, session.Harmless(p.Lacking))
		}
		if p.Unsaid {
			env.Say("no record says on how many GPUs it ran, so each counts as 1; name them with --gpu-count-var, or " +
				"give --metadata tensor_parallel_size=N to the runs")
		}
		fmt.Fprint(env.Stdout, "[BEGIN FIGURE]\nGroup: {}\n")
		if err := draw.draw(env, &p.Chart, filepath.Join("pareto", "PARETO")); err != nil {
			return err
		}
		if !draw.dryRun {
			fmt.Fprintf(env.Stdout, "Plotted %d points; Pareto frontier size: %d.\n", p.Plotted, p.Front)
		}
		fmt.Fprint(env.Stdout, "[END FIGURE]\n")
		return nil
	}))
}
