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
	// lines that were complete; closed when the output has ended.
	lines chan string
	over  chan struct{}
	read  sync.WaitGroup
	said  firstWords
}

const (
	// longestToolLine is far beyond a line about an accelerator; longer ones are passed over.
	longestToolLine = 16 << 10
	// killTime is how long a killed child may take to go.
	killTime = 2 * time.Second
)

// startTool starts a program. The thread that calls must live on as long as the program is to.
func startTool(path string, args []string) (*toolProcess, error) {
	p := &toolProcess{cmd: exec.Command(path, args...), lines: make(chan string), over: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "LC_ALL=C") // points, not commas, in numbers
	p.cmd.Stderr = &p.said
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

// scan reads lines until the output ends. A line without its end is none: its last number may lack digits.
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

// errStuck says that a child could not be killed.
var errStuck = errors.New("it could not be killed")

// end kills the child and whatever it started, waits for it and returns how it exited.
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
		// It hangs inside the driver, where no signal reaches it. The goroutine that waits for it goes when it does.
		return errStuck
	}
}

// firstWords keeps the beginning of what is written to it.
type firstWords struct {
	mu   sync.Mutex // guards kept: a child that is stuck may still write
	kept []byte
}

func (f *firstWords) Write(b []byte) (int, error) {
	const most = 500
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = append(f.kept, b[:min(len(b), most-len(f.kept))]...)
	return len(b), nil
}

// line is the first line of the words. It may be asked for once the child has ended.
func (f *firstWords) line() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range bytes.Lines(f.kept) {
		if words := printable(line); words != "" {
			return words
		}
	}
	return ""
}
