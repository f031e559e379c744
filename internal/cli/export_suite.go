package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"benchtop/internal/argv"
	"benchtop/internal/dashboard"
	"benchtop/internal/files"
	"benchtop/internal/session"
	"benchtop/internal/usage"
)

const exportSuiteText = `
Writes results into a folder as the scripts of vLLM's performance dashboard read them: NAME.json with NAME.commands
beside it, and the table benchmark_results.json, also in Markdown. The results are those of serve, throughput
and latency, of benchtop or vLLM; a folder stands for all results in it.

  benchtop export-suite results/ --gpu-type H100 --server-command 'vllm serve M -tp 2' benchtop-results/`

// exportSuiteOptions are what is exported.
type exportSuiteOptions struct {
	about dashboard.About
	flags argv.Flags
	dir   string
	files []string
}

func newExportSuiteOptions() *exportSuiteOptions {
	o := &exportSuiteOptions{
		flags: argv.Flags{Synopsis: "export-suite [flags] DIR FILE|FOLDER ...", Text: exportSuiteText}}
	f := o.flags.Group("Measurement")
	f.StringVar(&o.about.Server, "server-command", "", "command of the server, for its type of numbers, and for the "+
		"parallel sizes that a result does not have in its metadata (default: by the file of commands beside a result)")
	f.StringVar(&o.about.GPU, "gpu-type", "", "name of the server's GPU (default: by the result)")
	return o
}

func (o *exportSuiteOptions) parse(env *session.Environment, args []string) error {
	rest, err := env.Parse(&o.flags, args)
	p := usage.Problems{err}
	if len(rest) < 2 {
		p.BadIf(err == nil,
			"export-suite takes a folder to write and results, got %q; see 'benchtop export-suite --help'", rest)
		return errors.Join(p...)
	}
	o.dir, o.files = rest[0], rest[1:]
	for _, word := range []string{"serving", "latency", "throughput"} {
		p.BadIf(strings.Contains(o.dir, word), "%s: the scripts take every file below a path with %q for a result of "+
			"that kind; choose another name", usage.Quote(o.dir), word)
	}
	if o.about.Server != "" {
		words, err := argv.Split(o.about.Server)
		p.Flag("server-command", err)
		p.BadIf(err == nil && len(words) < 2, "--server-command %s: expected a program and its arguments",
			usage.Quote(o.about.Server))
	}
	return errors.Join(p...)
}

func runExportSuite(env *session.Environment, args []string) int {
	o := newExportSuiteOptions()
	if err := o.parse(env, args); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	if err := o.export(env); err != nil {
		return env.Fail(session.ExitFailed, err)
	}
	return session.ExitFine
}

// export writes all results, then their table.
func (o *exportSuiteOptions) export(env *session.Environment) error {
	results, err := o.results(env)
	if err != nil {
		return err
	}
	if len(results) == 0 {
		return errors.New("no results of a benchmark were found")
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return err
	}
	names := map[string]int{}
	for i := range results {
		r := &results[i]
		if names[r.Name]++; names[r.Name] > 1 {
			r.Name = fmt.Sprintf("%s_%d", r.Name, names[r.Name])
		}
		path := filepath.Join(o.dir, r.Name)
		for _, name := range []string{path + ".json", path + dashboard.CommandsSuffix} {
			if _, err := os.Lstat(name); err == nil {
				return fmt.Errorf("%s is there already; choose another folder", name)
			}
		}
	}
	for _, r := range results {
		path := filepath.Join(o.dir, r.Name)
		err := files.Write(path+".json", written(string(r.JSON)))
		if err == nil {
			err = files.Write(path+dashboard.CommandsSuffix, r.Commands.JSON)
		}
		if err != nil {
			return err
		}
	}
	return o.table(env, len(results))
}

// table writes the table of the whole folder.
func (o *exportSuiteOptions) table(env *session.Environment, added int) error {
	table := filepath.Join(o.dir, dashboard.Table)
	if err := os.Remove(table); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	rows, _, err := dashboard.Read(o.dir)
	if err == nil {
		err = files.Write(table, func(w io.Writer) error { return dashboard.WriteTable(w, rows) })
	}
	if err == nil {
		err = files.Write(files.Stem(table)+".md", func(w io.Writer) error { return dashboard.WriteMarkdown(w, rows) })
	}
	if err != nil {
		return err
	}
	env.Say(fmt.Sprintf("%d results in %s; the table has %d rows", added, o.dir, len(rows)))
	return nil
}

// foreign are the results below a folder but for those in the own one.
func foreign(env *session.Environment, dir, own string) ([]string, error) {
	found, left, err := dashboard.Results(dir)
	if left != "" {
		env.Say(left)
	}
	return slices.DeleteFunc(found, func(name string) bool {
		at, err := filepath.Abs(name)
		return err == nil && strings.HasPrefix(at, own+string(filepath.Separator))
	}), err
}

// results reads what is exported, in order. Files of folders that are no results are left out.
func (o *exportSuiteOptions) results(env *session.Environment) (all []dashboard.Result, err error) {
	own, err := filepath.Abs(o.dir)
	if err != nil {
		return nil, err
	}
	for _, path := range o.files {
		found, skipped := []string{path}, 0
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if found, err = foreign(env, path, own); err != nil {
				return nil, err
			}
		}
		for _, name := range found {
			of, note, err := o.read(name)
			switch {
			case err == nil:
				all = append(all, of...)
				if note != "" {
					env.Say(note)
				}
			case name == path:
				return nil, err
			default:
				skipped++
			}
		}
		if skipped > 0 {
			env.Say(fmt.Sprintf("%s: %d files are no results", session.Harmless(path), skipped))
		}
	}
	return all, nil
}

// read reads the results of a file, and the commands beside it.
func (o *exportSuiteOptions) read(path string) (all []dashboard.Result, note string, err error) {
	results, note, err := files.ReadResults(path)
	if err != nil {
		return nil, "", err
	}
	stem := filepath.Base(files.Stem(path))
	beside, missing := dashboard.ReadCommands(files.Stem(path) + dashboard.CommandsSuffix)
	if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
		return nil, "", missing
	}
	for _, raw := range results {
		r, err := dashboard.Own(stem, raw, o.about)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", path, err)
		}
		if missing == nil {
			if o.about.GPU != "" {
				beside.GPU = o.about.GPU
			}
			if o.about.Server != "" && r.Kind == dashboard.Serving {
				beside.Server = r.Commands.Server
			}
			r.Commands, r.Name = beside, stem
		}
		all = append(all, r)
	}
	return all, note, nil
}
