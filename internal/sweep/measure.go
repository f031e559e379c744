package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
	"benchtop/internal/text"
	"benchtop/metrics/grid"
)

// measure performs the first runs of a combination, as many as are wanted, and returns the records of all its runs that
// succeeded, in order. Those that have a record already, of this session or an earlier one, are not performed again.
func (s *Sweep) measure(ctx context.Context, c Combination, runs int) ([]Record, error) {
	cell := s.cell(c)
	if s.enter(cell, runs) {
		if err := s.runs(ctx, cell, runs, func(n int) bool { return s.reuse(cell, n) }); err != nil {
			return nil, err
		}
	}
	return cell.kept(), nil
}

// anew performs the runs of a combination once more: those that failed or were skipped, or else all.
func (s *Sweep) anew(ctx context.Context, c *cell) error {
	runs := len(c.Cell.Runs)
	missing := len(c.records) < runs
	s.reset(c, missing)
	s.enter(c, runs)
	return s.runs(ctx, c, runs, func(n int) bool { return missing && s.reuse(c, n) })
}

// runs performs the first runs of a combination, but for those that are over or reused, and writes its summary.
func (s *Sweep) runs(ctx context.Context, c *cell, runs int, reuse func(n int) bool) error {
	defer s.leave(c)
	warm := false
	for n := range runs {
		if c.Cell.Runs[n].State.Over() || reuse(n) {
			continue
		}
		if err := s.startServer(ctx, c.Combination.Server); err != nil {
			return err
		}
		if s.skipped(c) { // perhaps while the server started
			break
		}
		if !warm && s.o.Warmup > 0 {
			if err := s.run(ctx, c, warmup); err != nil {
				return err
			}
			warm = true
		}
		if err := s.run(ctx, c, n); err != nil {
			return err
		}
	}
	return s.finish(c)
}

// finish writes the summary of a combination, and the table.
func (s *Sweep) finish(c *cell) error {
	if s.o.DryRun || s.o.Dir == "" {
		return nil
	}
	if len(c.records) == 0 {
		s.say("[NO SUCCESSFUL MEASURED RUNS] leaving combination retryable")
		return nil
	}
	if c.File != "" {
		return s.writeTable()
	}
	return errors.Join(writeSummary(filepath.Join(s.o.Dir, c.Combination.Dir()), slices.Sorted(maps.Keys(c.records))),
		s.writeTable())
}

// keep takes a record. Without the object benchtop, which would fill the memory.
func (c *cell) keep(number int, r Record) {
	if number != warmup {
		c.records[number] = Record{
			slices.DeleteFunc(slices.Clone(r.Item), func(m jsonscan.Member) bool { return m.Name == ownKey })}
	}
}

// reuse takes the record of an earlier session, if it is whole, of these parameters and by these commands. It says why
// one is not used.
func (s *Sweep) reuse(c *cell, number int) bool {
	if s.o.Dir == "" {
		return false
	}
	path := s.Path(c.Combination, number)
	r, err := readRecord(path)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	why := ""
	if err != nil {
		why = err.Error()
	} else {
		why = r.matches(c.Combination, number, s.o.ID)
	}
	if why != "" {
		s.say("The run of %s is repeated: %s", path, why)
		return false
	}
	s.begin(Run{c.Combination, number, path})
	s.say("Found existing results.\n[SKIPPED BENCHMARK]")
	c.keep(number, r)
	s.mark(c, number, grid.Run{State: grid.Found, Figures: r.Figures()})
	return true
}

// Path is the file of a run of a combination.
func (s *Sweep) Path(c Combination, number int) string {
	if c.File != "" {
		return filepath.Join(s.o.Dir, c.File)
	}
	return filepath.Join(s.o.Dir, c.Dir(), runFile(number))
}

// begin prints what a run is.
func (s *Sweep) begin(r Run) {
	if s.o.Dir == "" {
		return
	}
	s.say("[BEGIN BENCHMARK]\n%s\nOutput file: %s", strings.Join(s.o.Runner.Lines(r), "\n"), r.Path)
}

// run performs one run. Its failure is no error where the sweep goes on.
func (s *Sweep) run(ctx context.Context, c *cell, number int) error {
	r := Run{c.Combination, number, s.Path(c.Combination, number)}
	if number == warmup {
		r.Place = cmp.Or(r.Dir(), ".") // that of the measured runs
		r.Bench = r.Bench.With(Prompts, strconv.Itoa(s.o.Warmup))
	}
	s.begin(r)
	if s.o.DryRun {
		s.say("[END BENCHMARK]")
		return nil
	}
	began := time.Now()
	record, figures, err := s.attempt(ctx, c, r)
	switch {
	case err == nil:
		s.mark(c, number, grid.Run{State: grid.Done, Figures: figures, Took: time.Since(began)})
		if s.o.Dir == "" {
			return nil
		}
		s.say("[END BENCHMARK]")
		c.keep(number, record)
		return remove(failureFile(r.Path))
	case errors.Is(err, errSkipped):
		s.say("[SKIPPED BENCHMARK]")
		s.mark(c, number, grid.Run{State: grid.Skipped})
		return nil
	}
	if ctx.Err() != nil {
		s.mark(c, number, grid.Run{State: grid.Waiting})
		return err
	}
	s.mark(c, number, grid.Run{State: grid.Failed, Trouble: text.Clean(err.Error()), Took: time.Since(began)})
	if errors.As(err, new(serverError)) {
		return err
	}
	return s.recordFailure(r, err)
}

// deathSeen is how long a run that failed waits for news of its server.
const deathSeen = time.Second

// attempt performs one run and stores its record, where the sweep keeps files.
func (s *Sweep) attempt(ctx context.Context, c *cell, r Run) (record Record, figures grid.Figures, err error) {
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	s.running(c, r.Number, cut)
	defer s.running(c, r.Number, nil)
	if s.o.Dir == "" {
		figures, err = s.o.Measure(ctx, r)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return record, figures, err
	}
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		return record, figures, err
	}
	defer s.watchServer(ctx, cut)()
	err = s.o.Runner.Run(ctx, r)
	if err != nil && s.server != nil && s.server.server != nil {
		select { // the death of a server is seen a moment after its broken connections
		case <-ctx.Done():
		case <-time.After(deathSeen):
		}
	}
	if ctx.Err() != nil {
		return record, figures, context.Cause(ctx)
	}
	if err != nil {
		return record, figures, err
	}
	if record, err = readRecord(r.Path); err != nil {
		return record, figures, fmt.Errorf("the run left no result: %w", err)
	}
	record = record.of(r.Combination, r.Number, s.o.ID)
	return record, record.Figures(), record.write(r.Path)
}

// recordFailure writes down why a run failed, or returns it where the sweep ends by it.
func (s *Sweep) recordFailure(r Run, failure error) error {
	if !s.o.ContinueOnError || errors.As(failure, new(End)) {
		return failure
	}
	path := failureFile(r.Path)
	words := text.Clean(failure.Error())
	if s.o.Dir == "" {
		s.note("run %d: %s", r.Number+1, words)
		return nil
	}
	s.say("[FAILED BENCHMARK] run=%d: %s: %s", r.Number, kindOf(failure), words)
	s.note("run %d of %s: %s", r.Number, r.Dir(), words)
	if err := writeFailure(path, failure, &r.Number, r.Server, r.Bench); err != nil {
		return err
	}
	s.say("Failure details: %s", path)
	return nil
}

func failureFile(path string) string { return strings.TrimSuffix(path, ".json") + ".failure.json" }

// kindOf names the type of an error as vLLM's failure files do.
func kindOf(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "TimeoutError"
	}
	return "RuntimeError"
}

// writeFailure writes a failure file. A server's has no run and no benchmark parameters.
func writeFailure(path string, failure error, run *int, server, bench Item) error {
	o := Item{}
	if run != nil {
		o = o.With("run_number", fmt.Sprint(*run))
	}
	o = o.With("error_type", string(jsonscan.Quote(kindOf(failure))))
	o = o.With("error", string(jsonscan.Quote(failure.Error())))
	o = o.With("serve_overrides", string(server.Safe().JSON()))
	if run != nil {
		o = o.With("bench_overrides", string(bench.Safe().JSON()))
	}
	return writeAll(path, append(pyjson.AppendIndented(nil, o.JSON(), 2, 0), '\n'))
}
