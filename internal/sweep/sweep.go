package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics/grid"
)

// Run is one measurement of a combination.
type Run struct {
	Combination
	Number int
	// Path is the file of its result.
	Path string
}

// Runner performs the runs of a sweep.
type Runner interface {
	// Lines describe a run before it begins.
	Lines(r Run) []string
	// Run measures, leaves the result at the path of the run, and makes the server ready for the next one.
	Run(ctx context.Context, r Run) error
}

// Server is a server that a sweep started.
type Server interface {
	Ready(ctx context.Context) error
	// Died is closed when the server has ended; Err then says how.
	Died() <-chan struct{}
	Err() error
	// Stop ends the server and all its processes.
	Stop() error
}

// Servers start the server of an item.
type Servers struct {
	// Command is the command line with an item, for showing: without secrets.
	Command func(Item) []string
	// Start begins it; each line that it prints goes to log.
	Start func(ctx context.Context, server Item, log func(line string)) (Server, error)
}

// Driver decides at which loads pairs of server and benchmark parameters are measured.
type Driver interface {
	// Planned are the combinations that are surely measured for a pair.
	Planned(pair Combination) []Combination
	// Drive has the sweep measure a pair at all the loads that it needs. Its result are the combinations in the order
	// of the table. It returns an error of measure, which ends the sweep, or the work with this server.
	Drive(ctx context.Context, s *Sweep, pair Combination) ([]Combination, error)
}

// pairDriver measures each pair as it is.
type pairDriver struct{}

func (pairDriver) Planned(pair Combination) []Combination { return []Combination{pair} }

func (pairDriver) Drive(ctx context.Context, s *Sweep, pair Combination) ([]Combination, error) {
	_, err := s.measure(ctx, pair, s.runsOf(pair))
	return []Combination{pair}, err
}

// Options are the plan of a sweep.
type Options struct {
	Title string
	// Word is what a person calls all runs together; "" for a sweep where there is a Dir, else a series. Part is what a
	// combination is to a person; "" for that where there is a Dir, else a load.
	Word, Part string
	// Dir is the directory of the experiment, ID its commands, as by Manifest.ID: records with another are not used.
	Dir, ID string
	// Pairs are the combinations in order, all with the same server parameters beside each other.
	Pairs []Combination
	Links []Link
	// Runs is how often each planned combination is measured. Warmup is the number of requests of a run before the
	// first one that is not counted, 0 for none.
	Runs, Warmup int
	Driver       Driver // nil measures the pairs as they are
	// Variable is the load that the driver sets, "" for none.
	Variable string
	Runner   Runner
	// Measure performs the runs of a series that keeps no files, which has neither Dir nor Runner.
	Measure func(ctx context.Context, r Run) (grid.Figures, error)
	// Whole: the runs belong together, so that none is skipped or repeated.
	Whole   bool
	Servers *Servers // nil for a server that runs already
	// ContinueOnError records failures and goes on. DryRun prints, and does nothing else.
	ContinueOnError, DryRun bool
	Out                     io.Writer
}

// Outcome is how a sweep ended.
type Outcome struct {
	// Done, Failed and Skipped count runs; Found are those of earlier sessions.
	Done, Found, Failed, Skipped int
	// Servers failed to start or died.
	Servers int
}

// Sweep performs combinations one after the other.
type Sweep struct {
	o       Options
	started time.Time
	out     chan grid.Snapshot
	server  *itemServer
	table   []*cell // those whose place in the table is known, in its order

	mu      sync.Mutex // guards those below, which commands and snapshots read
	cells   []*cell
	current int
	number  int // of the run in progress
	cut     context.CancelCauseFunc
	stop    context.CancelCauseFunc
	again   []int
	state   grid.Server
	since   time.Time
	starts  mean // of servers, until they were ready
	notice  string
	summary string
	search  []grid.Search
	shown   *grid.Table
	over    bool
}

// cell is a combination with what is known of its runs.
type cell struct {
	Combination
	grid.Cell
	dir string
	// records are those of runs that succeeded, by number, without the object benchtop.
	records map[int]Record
	skip    bool
}

// kept are the records in order.
func (c *cell) kept() (list []Record) {
	for _, n := range slices.Sorted(maps.Keys(c.records)) {
		list = append(list, c.records[n])
	}
	return list
}

// Reasons for which a run or a sweep is cut by a person.
var (
	// ErrStopped is the end of a sweep that a person asked for.
	ErrStopped = errors.New("stopped by the user")
	errSkipped = errors.New("skipped")
)

// End is a failure that ends a sweep, also one that goes on after failures.
type End struct{ Err error }

func (e End) Error() string { return e.Err.Error() }
func (e End) Unwrap() error { return e.Err }

// serverError is the failure of a server, which ends the work on its combinations.
type serverError struct{ error }

func (e serverError) Unwrap() error { return e.error }

// New prepares a sweep. It does nothing before Run.
func New(o Options) *Sweep {
	if o.Driver == nil {
		o.Driver = pairDriver{}
	}
	if o.Dir != "" {
		o.Word, o.Part = cmp.Or(o.Word, "sweep"), "combination"
	}
	o.Word, o.Part = cmp.Or(o.Word, "series"), cmp.Or(o.Part, "load")
	s := &Sweep{o: o, current: -1, number: -1, out: make(chan grid.Snapshot, 1)}
	if o.Servers == nil {
		s.state.State = grid.ServerForeign
	}
	for _, pair := range o.Pairs {
		if !linked(o.Links, pair.Server, pair.Bench) {
			s.cell(pair).State = grid.Linked
			continue
		}
		for _, c := range o.Driver.Planned(pair) {
			s.cell(c)
		}
	}
	return s
}

// Run performs the sweep. It returns when nothing of it runs any more. The error is the failure that ended it,
// ErrStopped, or the context's cause.
func (s *Sweep) Run(ctx context.Context) (Outcome, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.mu.Lock()
	s.started, s.since, s.stop = time.Now(), time.Now(), stop
	s.mu.Unlock()
	publishing := make(chan struct{})
	quiet := make(chan struct{})
	go func() {
		defer close(quiet)
		s.publishUntil(publishing)
	}()
	err := s.perform(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	o := s.outcome()
	close(publishing)
	<-quiet
	s.mu.Lock()
	s.over, s.current, s.number = true, -1, -1
	s.summary = o.String()
	if err != nil {
		s.summary += ": " + text.Clean(err.Error())
	}
	s.mu.Unlock()
	s.publish()
	close(s.out)
	return o, err
}

func (s *Sweep) perform(ctx context.Context) error {
	for i, pair := range s.o.Pairs {
		if i > 0 && !sameItem(pair.Server, s.o.Pairs[i-1].Server) {
			if err := s.endServer(); err != nil {
				return err
			}
		}
		if err := s.pair(ctx, pair); err != nil {
			return errors.Join(err, s.endServer())
		}
	}
	for c := s.nextRepeat(); c != nil && ctx.Err() == nil; c = s.nextRepeat() {
		if s.server != nil && (s.server.failed || !sameItem(s.server.item, c.Combination.Server)) {
			if err := s.endServer(); err != nil {
				return err
			}
		}
		if err := s.guarded(c.Combination, func() error { return s.anew(ctx, c) }); err != nil {
			return errors.Join(err, s.endServer())
		}
	}
	return s.endServer()
}

// pair performs a pair of parameters, unless it is linked out or its server failed.
func (s *Sweep) pair(ctx context.Context, pair Combination) error {
	if !linked(s.o.Links, pair.Server, pair.Bench) {
		s.say("Left out by --link-vars: %s", strings.TrimPrefix(pair.Dir(), "SERVE--"))
		return nil
	}
	if s.server != nil && s.server.failed {
		s.giveUp(pair)
		return nil
	}
	err := s.guarded(pair, func() error {
		order, err := s.o.Driver.Drive(ctx, s, pair)
		if err != nil {
			return err
		}
		for _, c := range order {
			s.table = append(s.table, s.cell(c))
		}
		return s.writeTable()
	})
	if err == nil {
		s.giveUp(pair)
	}
	return err
}

// guarded does work that needs a server. The failure of a server is recorded where the sweep goes on.
func (s *Sweep) guarded(pair Combination, work func() error) error {
	err := work()
	failure, ok := errors.AsType[serverError](err)
	if !ok || !s.o.ContinueOnError {
		return err
	}
	name := "(default)"
	if len(pair.Server) > 0 {
		name = pair.Server.Name()
	}
	path := filepath.Join(s.o.Dir, serverFailureFile(pair.Server))
	words := text.Clean(failure.Error())
	s.say("[FAILED SERVER COMBINATION] %s: %s: %s", name, kindOf(failure), words)
	s.note("server %s: %s", name, words)
	s.server.failed = true
	if err := writeFailure(path, failure, nil, pair.Server, nil); err != nil {
		return err
	}
	s.say("Failure details: %s", path)
	return nil
}

// giveUp marks what is not measured any more of a pair.
func (s *Sweep) giveUp(pair Combination) {
	for _, c := range s.o.Driver.Planned(pair) {
		known := s.cell(c)
		s.mu.Lock()
		known.end(grid.Failed)
		s.mu.Unlock()
	}
}

// cell is that of a combination, which is new at the first call.
func (s *Sweep) cell(c Combination) *cell {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := c.Dir()
	for _, known := range s.cells {
		if known.dir == dir {
			return known
		}
	}
	made := &cell{Combination: c, dir: dir, Cell: grid.Cell{Server: c.Server.String(), Bench: c.Bench.String(),
		Load: c.Load, State: grid.Waiting}, records: map[int]Record{}}
	made.plan(s.runsOf(c))
	s.cells = append(s.cells, made)
	return made
}

// runsOf is how often a combination is measured.
func (s *Sweep) runsOf(c Combination) int { return cmp.Or(c.Runs, s.o.Runs) }

// plan adds the runs of a cell up to a number of them.
func (c *cell) plan(runs int) {
	for n := len(c.Cell.Runs); n < runs; n++ {
		c.Cell.Runs = append(c.Cell.Runs, grid.Run{Number: n, State: grid.Waiting})
	}
}

// end gives what is left of a cell a state.
func (c *cell) end(state grid.State) {
	if !c.Cell.State.Over() {
		c.Cell.State = state
	}
	for i, r := range c.Cell.Runs {
		if !r.State.Over() {
			c.Cell.Runs[i].State = state
		}
	}
}

// writeTable writes summary.csv: the combinations in order, then those of the pair in progress.
func (s *Sweep) writeTable() error {
	if s.o.DryRun || s.o.Dir == "" {
		return nil
	}
	var records []Record
	written := map[*cell]bool{}
	for _, c := range slices.Concat(s.table, s.cells) {
		if !written[c] {
			records = append(records, c.kept()...)
		}
		written[c] = true
	}
	if len(records) == 0 {
		return nil
	}
	return writeCSV(filepath.Join(s.o.Dir, "summary.csv"), records)
}

func sameItem(a, b Item) bool { return string(a.JSON()) == string(b.JSON()) }

func (s *Sweep) say(format string, a ...any) { fmt.Fprintf(s.o.Out, format+"\n", a...) }

// outcome counts the runs.
func (s *Sweep) outcome() (o Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.cells {
		for _, r := range c.Cell.Runs {
			switch r.State {
			case grid.Done:
				o.Done++
			case grid.Found:
				o.Found++
			case grid.Failed:
				o.Failed++
			case grid.Skipped:
				o.Skipped++
			}
		}
	}
	return o
}

// String says the outcome in one line.
func (o Outcome) String() string {
	text := text.Count(o.Done, "run") + " measured"
	for _, part := range []struct {
		n    int
		what string
	}{{o.Found, "found"}, {o.Failed, "failed"}, {o.Skipped, "skipped"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return text
}

// remove deletes a file that may be missing.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
