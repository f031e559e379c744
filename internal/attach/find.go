package attach

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const ending = ".sock"

// directories are where the sockets of this user's runs may be, the best first: in $XDG_RUNTIME_DIR, which is the
// user's alone, and, where there is none, below the directory of temporary files.
func directories() []string {
	all := []string{filepath.Join(os.TempDir(), fmt.Sprintf("benchtop-%d", os.Getuid()))}
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		all = append([]string{filepath.Join(runtime, "benchtop")}, all...)
	}
	return all
}

// directory makes the best directory that can be made. It belongs to the user alone.
func directory() (string, error) {
	var problems []error
	for _, dir := range directories() {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			problems = append(problems, err)
			continue
		}
		return dir, usable(dir)
	}
	return "", errors.Join(problems...)
}

// usable says what is wrong with a directory, nil if it is there and the user's alone.
func usable(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case !private(info):
		return fmt.Errorf("%s belongs to another user or is open to others; remove it, or set XDG_RUNTIME_DIR", dir)
	}
	return nil
}

func socketOf(dir string, pid int) string { return filepath.Join(dir, strconv.Itoa(pid)+ending) }

// RunProcess is a run that can be joined.
type RunProcess struct {
	PID  int
	Path string
	// Since is when it began, or, where it did not say, when its socket was made.
	Since time.Time
	// About is empty where the run did not say in time.
	About About
}

// Find lists this user's runs, the newest first. Sockets without a listener are removed; directories are only read. The
// error says why the best directory cannot be, where no run was found elsewhere.
func Find() ([]RunProcess, error) {
	var all []*RunProcess
	var problem error
	for i, dir := range directories() {
		runs, err := findIn(dir)
		if all = append(all, runs...); i == 0 && !errors.Is(err, fs.ErrNotExist) {
			problem = err
		}
	}
	if len(all) == 0 {
		return nil, problem
	}
	var out []RunProcess
	for _, r := range all {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b RunProcess) int { return b.Since.Compare(a.Since) })
	return out, nil
}

// findIn lists the runs whose sockets are in one directory.
func findIn(dir string) ([]*RunProcess, error) {
	if err := usable(dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []*RunProcess
	var asking sync.WaitGroup
	for _, e := range entries {
		pid, err := strconv.Atoi(strings.TrimSuffix(e.Name(), ending))
		info, e2 := e.Info()
		if err != nil || e2 != nil || pid <= 0 || !strings.HasSuffix(e.Name(), ending) {
			continue
		}
		r := &RunProcess{PID: pid, Path: filepath.Join(dir, e.Name()), Since: info.ModTime()}
		conn, err := net.DialTimeout("unix", r.Path, soonWords)
		switch {
		case err == nil:
			out = append(out, r)
			asking.Go(func() {
				if r.About = ask(conn); !r.About.Started.IsZero() {
					r.Since = r.About.Started
				}
			})
		case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist):
			_ = os.Remove(r.Path)
		}
	}
	asking.Wait()
	return out, nil
}

// About tells runs apart, in words of the user's and the server's, each at most mostAbout bytes; "" for what is not
// known.
type About struct {
	Target string `json:"target,omitempty"`
	Model  string `json:"model,omitempty"`
	Load   string `json:"load,omitempty"`
	// Started is when the run began; its socket may be newer.
	Started time.Time `json:"started,omitzero"`
}

const (
	mostAbout = 200
	// firstWords is how long a run may take for its reply to a viewer, soonWords to who asks many runs what they are.
	firstWords = 3 * time.Second
	soonWords  = time.Second
)

func (h *Host) about() About {
	p := h.run.Snapshot().Plan
	if p == nil {
		return About{}
	}
	load := p.Load
	if p.Part.Split() {
		load += ", part " + p.Part.String()
	}
	return About{cut(p.Address()), cut(p.ModelID), cut(load), p.Started}
}

// cut bounds words from outside.
func cut(words string) string {
	return strings.ToValidUTF8(words[:min(len(words), mostAbout)], "")
}

// ask asks a run what it is, and hangs up.
func ask(conn net.Conn) About {
	defer conn.Close()
	w, _, _ := handshake(conn, hello{Attach: protocol, Ask: true}, soonWords)
	return w.About
}

// handshake says the first words to a run and waits for its own. The reader has what follows them.
func handshake(conn net.Conn, words hello, limit time.Duration) (w reply, in *bufio.Reader, err error) {
	_ = conn.SetDeadline(time.Now().Add(limit))
	defer conn.SetDeadline(time.Time{})
	in = bufio.NewReaderSize(conn, 64<<10)
	asked := json.NewEncoder(conn).Encode(words)
	line, err := in.ReadSlice('\n') // who hangs up may have said why
	if err != nil {
		if asked != nil {
			err = asked
		}
		return reply{}, nil, fmt.Errorf("the run does not answer: %w", err)
	}
	if json.Unmarshal(line, &w) != nil || w.Attach == 0 {
		return reply{}, nil, errors.New("the listener is not a benchtop run")
	}
	return w, in, nil
}
