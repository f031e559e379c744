package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// timeouts limit the silence of a tool: after its start, as a sleeping driver wakes slowly, and later.
type timeouts struct{ first, later time.Duration }

// gpuStream turns the output of a tool into samples.
type gpuStream struct {
	tool    gpuTool
	options GPUOptions
	out     chan metrics.GPUSecond

	parsed  bool // the tool has shown an accelerator
	message string
	limit   time.Duration // of silence, for now
	tick    gpuSample
}

// run follows the tool until it ends, fails or ctx is done.
func (s *gpuStream) run(ctx context.Context) error {
	// Linux ends a child with the thread that started it, see endWithParent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		began := time.Now()
		err := s.process(ctx)
		if err != nil || !s.tool.once || ctx.Err() != nil {
			return err
		}
		// A tool that is started for every sample is slow, and takes time from the measuring client.
		took := time.Since(began)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(s.options.every-took, 9*took)):
		}
	}
}

// process starts the tool and follows it to its end.
func (s *gpuStream) process(ctx context.Context) error {
	p, err := startTool(s.tool.path, s.tool.args)
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", s.tool.name, err)
	}
	s.limit = s.options.timeouts.first
	err = s.follow(ctx, p)
	exit := p.end()
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, errSilent) && errors.Is(exit, errStuck):
		return fmt.Errorf("%s %s and was ended; it could not be killed: its driver hangs", s.tool.name, s.silence(p))
	case errors.Is(err, errSilent):
		return fmt.Errorf("%s %s and was ended", s.tool.name, s.silence(p))
	case err != nil || s.tool.once && s.parsed && exit == nil:
		return err
	}
	return s.ended(p, exit)
}

var errSilent = errors.New("quiet")

// follow reads the lines of a tool.
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
			return errors.Join(s.last(), errSilent)
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
				s.message = cmp.Or(s.message, text.Cut(printable([]byte(line)), 120))
				continue
			}
			if err := s.add(gpu); err != nil {
				return err
			}
			quiet.Reset(s.limit)
			settled.Reset(s.tick.wait(s.options.every))
		}
	}
}

// add takes what a line says of a GPU, and sends the sample before if this begins another one.
func (s *gpuStream) add(gpu metrics.GPU) error {
	s.parsed, s.limit = true, s.options.timeouts.later
	s.message = "" // the tool has recovered
	if s.tick.ends(gpu.Index) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.tick.add(gpu, time.Since(s.options.Start))
	return nil
}

// last sends the sample at the end of the output, unless lines are missing.
func (s *gpuStream) last() error {
	if s.tick.whole() {
		return s.flush()
	}
	return nil
}

// flush sends a sample without waiting: a reader that falls behind loses the oldest.
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

// silence describes a tool without figures: it printed nothing, or something else.
func (s *gpuStream) silence(p *toolProcess) string {
	words := s.message
	if words == "" && !s.parsed {
		words = p.stderr.line()
	}
	if words == "" {
		return fmt.Sprintf("gave no output for %s", s.limit)
	}
	return fmt.Sprintf("gave no data for %s, only %q", s.limit, words)
}

// ended is the error of a tool that ended by itself.
func (s *gpuStream) ended(p *toolProcess, exit error) error {
	words := p.stderr.line()
	// after figures, the message of other tools may be a header
	if words == "" && (!s.parsed || s.tool.name == "nvidia-smi") {
		words = s.message // nvidia-smi prints errors to its standard output
	}
	switch {
	case words != "" && exit != nil:
		return fmt.Errorf("%s ended: %s (%w)", s.tool.name, words, exit)
	case words != "":
		return fmt.Errorf("%s ended: %s", s.tool.name, words)
	case exit != nil:
		return fmt.Errorf("%s ended: %w", s.tool.name, exit)
	}
	return fmt.Errorf("%s ended without output", s.tool.name)
}

// gpuSample collects the lines of one sample. Tools print a line for each accelerator, in order, and nothing between
// two samples:
//
//	0 1 2 3 . . . . . 0 1 2 3 . . . . . 0
//	       |wait|     ^ an index that does not rise begins a new sample, if the wait did not
type gpuSample struct {
	gpus []metrics.GPU
	at   time.Duration // of the first line
	most int           // lines of the longest sample so far

	looked bool // there was a sample before
	before time.Duration
}

// ends reports whether an accelerator with this index belongs to the next sample.
func (t *gpuSample) ends(index int) bool {
	n := len(t.gpus)
	return n > 0 && index <= t.gpus[n-1].Index
}

func (t *gpuSample) add(gpu metrics.GPU, now time.Duration) {
	if len(t.gpus) == 0 {
		t.at = now
	}
	t.gpus = append(t.gpus, gpu)
}

// whole reports whether the sample has as many lines as the longest so far.
func (t *gpuSample) whole() bool { return len(t.gpus) >= t.most }

// wait is the pause after a line that ends a sample. A driver may be slow with one accelerator, so a sample that lacks
// lines lasts until the next one begins.
func (t *gpuSample) wait(every time.Duration) time.Duration {
	if t.whole() {
		return every / 2
	}
	return every + every/2
}

// take returns the sample, with only some of the accelerators unless only is nil, and begins a new one. It is an error
// if none of those is there.
func (t *gpuSample) take(only []int) (metrics.GPUSecond, error) {
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
