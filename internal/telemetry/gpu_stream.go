package telemetry

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"benchtop/metrics"
)

// patience is how long a tool may say nothing: from its start, as a driver that sleeps takes long to wake, and later.
type patience struct{ first, later time.Duration }

// gpuStream turns what a tool prints into looks.
type gpuStream struct {
	tool    gpuTool
	options GPUOptions
	out     chan metrics.GPUSecond

	spoke bool // the tool has shown an accelerator
	words string
	limit time.Duration // the patience in force
	tick  gpuTick
}

// run lets the tool look until it ends, fails or ctx is done.
func (s *gpuStream) run(ctx context.Context) error {
	// Linux ends a child with the thread that started it, see isolate.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		began := time.Now()
		err := s.process(ctx)
		if err != nil || !s.tool.once || ctx.Err() != nil {
			return err
		}
		// A tool that is started for every look is slow, and works on the machine that measures.
		took := time.Since(began)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(s.options.Every-took, 9*took)):
		}
	}
}

// process starts the tool and follows it to its end.
func (s *gpuStream) process(ctx context.Context) error {
	p, err := startTool(s.tool.path, s.tool.args)
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", s.tool.name, err)
	}
	s.limit = s.options.patience.first
	err = s.follow(ctx, p)
	exit := p.end()
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, errQuiet) && errors.Is(exit, errStuck):
		return fmt.Errorf("%s %s and was ended; it could not be killed: its driver hangs", s.tool.name, s.quiet(p))
	case errors.Is(err, errQuiet):
		return fmt.Errorf("%s %s and was ended", s.tool.name, s.quiet(p))
	case err != nil:
		return err
	}
	if s.tool.once && s.spoke && exit == nil {
		return nil
	}
	return s.ended(p, exit)
}

var errQuiet = errors.New("quiet")

// follow reads lines until there are no more.
func (s *gpuStream) follow(ctx context.Context, p *toolProcess) error {
	table := s.tool.table
	quiet, settled := time.NewTimer(s.limit), time.NewTimer(time.Hour)
	defer quiet.Stop()
	defer settled.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-quiet.C:
			return errors.Join(s.last(), errQuiet)
		case <-settled.C:
			if err := s.flush(); err != nil {
				return err
			}
		case line, more := <-p.lines:
			if !more {
				return s.last()
			}
			gpu, ok := table.line(line)
			if !ok {
				if s.words == "" {
					s.words = firstOf(line)
				}
				continue
			}
			s.spoke, s.limit = true, s.options.patience.later
			s.words = "" // whatever it was, it went on
			quiet.Reset(s.limit)
			if s.tick.ends(gpu.Index) {
				if err := s.flush(); err != nil {
					return err
				}
			}
			s.tick.add(gpu, time.Since(s.options.Start))
			settled.Reset(s.tick.wait(s.options.Every))
		}
	}
}

// firstOf are the first words of a line, without control characters.
func firstOf(line string) string {
	const most = 120
	words := []rune(printable([]byte(line)))
	if len(words) > most {
		return string(words[:most-1]) + "…"
	}
	return string(words)
}

// last hands on what came before the output ended, unless lines are missing.
func (s *gpuStream) last() error {
	if s.tick.whole() {
		return s.flush()
	}
	return nil
}

// flush hands a look on. Nobody is waited for: a reader that falls behind loses the oldest.
func (s *gpuStream) flush() error {
	if len(s.tick.gpus) == 0 {
		return nil
	}
	second, err := s.tick.take(s.options.Only)
	if err != nil {
		return fmt.Errorf("%s %w", s.tool.name, err)
	}
	if len(s.out) == cap(s.out) {
		select {
		case <-s.out:
		default: // the reader took one
		}
	}
	s.out <- second
	return nil
}

// quiet says how a tool was silent: without a word, or with words that are no figures.
func (s *gpuStream) quiet(p *toolProcess) string {
	words := s.words
	if words == "" && !s.spoke {
		words = p.said.line()
	}
	if words == "" {
		return fmt.Sprintf("said nothing for %s", s.limit)
	}
	return fmt.Sprintf("gave no figures for %s, only %q", s.limit, words)
}

// ended says why a tool went away that should not have.
func (s *gpuStream) ended(p *toolProcess, exit error) error {
	words := p.said.line()
	if words == "" && (!s.spoke || s.tool.name == "nvidia-smi") { // after figures, others write the names of columns there
		words = s.words // nvidia-smi complains there
	}
	switch {
	case words != "" && exit != nil:
		return fmt.Errorf("%s ended: %s (%w)", s.tool.name, words, exit)
	case words != "":
		return fmt.Errorf("%s ended: %s", s.tool.name, words)
	case exit != nil:
		return fmt.Errorf("%s ended: %w", s.tool.name, exit)
	}
	return fmt.Errorf("%s ended without a word", s.tool.name)
}

// gpuTick gathers the lines of one look. Tools print a line for each accelerator, in order, and no line end between two
// looks:
//
//	0 1 2 3 . . . . . 0 1 2 3 . . . . . 0
//	       |wait|     ^ an index that does not grow begins a new look, if the wait did not
type gpuTick struct {
	gpus []metrics.GPU
	at   time.Duration // when the first came
	most int           // lines of the longest look so far

	looked bool // there was a look before
	before time.Duration
}

// ends reports whether an accelerator with this index belongs to the next look.
func (t *gpuTick) ends(index int) bool {
	n := len(t.gpus)
	return n > 0 && index <= t.gpus[n-1].Index
}

func (t *gpuTick) add(gpu metrics.GPU, now time.Duration) {
	if len(t.gpus) == 0 {
		t.at = now
	}
	t.gpus = append(t.gpus, gpu)
}

// whole says that as many lines came as in the longest look so far.
func (t *gpuTick) whole() bool { return len(t.gpus) >= t.most }

// wait is how long after a line the look is taken to be over. A driver may take its time with one accelerator, so where
// lines are missing the next look is waited for.
func (t *gpuTick) wait(every time.Duration) time.Duration {
	if t.whole() {
		return every / 2
	}
	return every + every/2
}

// take returns the look, with only some of the accelerators unless only is nil, and begins a new one. The error says that
// there are none of those.
func (t *gpuTick) take(only []int) (metrics.GPUSecond, error) {
	s := metrics.GPUSecond{At: t.at, GPUs: t.gpus}
	if t.looked {
		s.Took = t.at - t.before
	}
	first, last := t.gpus[0].Index, t.gpus[len(t.gpus)-1].Index
	t.most, t.looked, t.before, t.gpus = max(t.most, len(t.gpus)), true, t.at, nil
	if only == nil {
		return s, nil
	}
	s.GPUs = slices.DeleteFunc(s.GPUs, func(g metrics.GPU) bool { return !slices.Contains(only, g.Index) })
	if len(s.GPUs) == 0 {
		return s, fmt.Errorf("shows none of the GPUs %v, only %d to %d", only, first, last)
	}
	return s, nil
}
