package telemetry

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

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
