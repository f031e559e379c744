package telemetry

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// GPUOptions select the accelerators to watch.
type GPUOptions struct {
	// Only these accelerators, by index; nil means all.
	Only []int
	// Start of the run, the offset 0 of the samples; zero means now.
	Start time.Time

	// tools to try, by name or path, in this order; nil means nvidia-smi, amd-smi and rocm-smi. The first that shows an
	// accelerator is used. A path must end in one of these names, which determines the arguments and the output.
	tools []string
	// every is the interval between two samples; 0 means a second.
	every    time.Duration
	timeouts timeouts
}

// errNoGPUTool: none of the tools is installed, so nothing was started.
var errNoGPUTool = errors.New("no GPU tool")

// GPUWatch samples the accelerators of this machine through the vendor's own tool, a child process that lives as long
// as the watch.
type GPUWatch struct {
	seconds chan metrics.GPUSecond
	cancel  context.CancelFunc
	over    chan struct{}
	err     error // the reason why the watch ended by itself; valid once it is over
}

// WatchGPUs starts to watch in the background and returns at once. The error is errNoGPUTool, with the names of the
// tools, or rejects the options. The watch ends with ctx or Close; its owner calls Close.
func WatchGPUs(ctx context.Context, o GPUOptions) (*GPUWatch, error) {
	o = o.defaults()
	var tools []gpuTool
	for _, name := range o.tools {
		t, err := gpuToolOf(name, o.every)
		if err != nil {
			return nil, err
		}
		if t.path, err = exec.LookPath(name); err == nil {
			tools = append(tools, t)
		}
	}
	if len(tools) == 0 {
		return nil, fmt.Errorf("%w: %s not found", errNoGPUTool, text.Join(o.tools, " and "))
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &GPUWatch{seconds: make(chan metrics.GPUSecond, 4), cancel: cancel, over: make(chan struct{})}
	go func() {
		defer cancel()
		defer close(w.seconds)
		defer close(w.over)
		w.err = watchGPUs(ctx, tools, o, w.seconds)
	}()
	return w, nil
}

// Seconds are the samples, in order. A reader that falls behind loses the oldest of them. The channel is closed at the
// end; then Err gives the reason.
func (w *GPUWatch) Seconds() <-chan metrics.GPUSecond { return w.seconds }

// Err is the reason why a watch ended by itself; nil while it goes on and if Close or the context ended it.
func (w *GPUWatch) Err() error {
	select {
	case <-w.over:
		return w.err
	default:
		return nil
	}
}

// Close ends the watch and the tool, and waits for both. It may be called again.
func (w *GPUWatch) Close() {
	w.cancel()
	<-w.over
}

func (o GPUOptions) defaults() GPUOptions {
	if o.tools == nil {
		o.tools = []string{"nvidia-smi", "amd-smi", "rocm-smi"}
	}
	o.every = cmp.Or(o.every, time.Second)
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	o.timeouts.first = cmp.Or(o.timeouts.first, max(15*time.Second, 3*o.every))
	o.timeouts.later = cmp.Or(o.timeouts.later, max(5*time.Second, 3*o.every))
	return o
}

// watchGPUs follows the first tool that shows an accelerator, until it ends.
func watchGPUs(ctx context.Context, tools []gpuTool, o GPUOptions, seconds chan metrics.GPUSecond) error {
	var problems []error
	for _, t := range tools {
		s := gpuStream{tool: t, options: o, out: seconds}
		err := s.run(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if s.parsed {
			return err
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// gpuTool is a vendor's program that shows accelerators.
type gpuTool struct {
	name, path string
	// args have it print a sample at an interval, for ever, or, if it is once, a single one.
	args  []string
	once  bool
	table gpuTable // of its output, before the first line
}

// gpuToolOf is the tool of a name or path, with its arguments for an interval.
func gpuToolOf(name string, every time.Duration) (gpuTool, error) {
	t := gpuTool{name: strings.TrimSuffix(filepath.Base(name), ".exe")}
	switch t.name {
	case "nvidia-smi":
		t.table = nvidiaTable()
		t.args = []string{"--query-gpu=" + nvidiaQuery, "--format=csv,noheader,nounits", "-lms",
			strconv.FormatInt(every.Milliseconds(), 10)}
	case "amd-smi": // it takes whole seconds
		seconds := max(1, int(every.Round(time.Second)/time.Second))
		t.args = []string{"monitor", "-p", "-t", "-u", "-m", "-v", "--csv", "--watch", strconv.Itoa(seconds)}
	case "rocm-smi":
		t.once = true
		t.args = []string{"--showproductname", "--showuse", "--showmeminfo", "vram", "--showpower", "--showmaxpower",
			"--showtemp", "--showclocks", "--csv"}
	default:
		return t, fmt.Errorf("GPU tool %q is not known: it must be nvidia-smi, amd-smi or rocm-smi, or a path to one",
			name)
	}
	return t, nil
}

// toolProcess is a child whose output is read line by line.
type toolProcess struct {
	cmd    *exec.Cmd
	output io.ReadCloser
	// lines are the complete ones; closed at the end of the output.
	lines  chan string
	over   chan struct{}
	read   sync.WaitGroup
	stderr errorOutput
}

const (
	// longestToolLine is far beyond a line about an accelerator; longer ones are skipped.
	longestToolLine = 16 << 10
	// killTime is the longest time that a killed child may take to end.
	killTime = 2 * time.Second
)

// startTool starts a program. The calling thread must outlive the program.
func startTool(path string, args []string) (*toolProcess, error) {
	p := &toolProcess{cmd: exec.Command(path, args...), lines: make(chan string), over: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "LC_ALL=C") // decimal points, not commas
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = killTime / 2
	isolate(p.cmd)
	var err error
	if p.output, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.read.Go(p.scan)
	return p, nil
}

// scan reads lines until the output ends. An unterminated last line is dropped: its last number may lack digits.
func (p *toolProcess) scan() {
	defer close(p.lines)
	r := bufio.NewReaderSize(p.output, longestToolLine)
	whole := true
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			whole = false
			continue
		}
		if err != nil {
			return
		}
		if line = bytes.TrimSpace(line); whole && len(line) > 0 {
			select {
			case p.lines <- string(line):
			case <-p.over:
				return
			}
		}
		whole = true
	}
}

// errStuck: a child survived its kill.
var errStuck = errors.New("it could not be killed")

// end kills the child and its descendants, waits for it and returns its exit.
func (p *toolProcess) end() error {
	close(p.over)
	kill(p.cmd)
	_ = p.output.Close()
	p.read.Wait()
	exit := make(chan error, 1)
	go func() { exit <- p.cmd.Wait() }()
	select {
	case err := <-exit:
		return err
	case <-time.After(killTime):
		// It hangs inside the driver, beyond the reach of signals. The waiting goroutine ends with it.
		return errStuck
	}
}

// errorOutput keeps the beginning of a child's standard error.
type errorOutput struct {
	mu   sync.Mutex // guards kept: a child that is stuck may still write
	kept []byte
}

func (f *errorOutput) Write(b []byte) (int, error) {
	const most = 500
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = append(f.kept, b[:min(len(b), most-len(f.kept))]...)
	return len(b), nil
}

// line is the first printable line.
func (f *errorOutput) line() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range bytes.Lines(f.kept) {
		if words := printable(line); words != "" {
			return words
		}
	}
	return ""
}
