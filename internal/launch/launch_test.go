//go:build linux

package launch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// The test binary is also the guard, the servers and their parent. This variable says which.
const playing = "BENCHTOP_LAUNCH_TEST_PLAYS"

func TestMain(m *testing.M) {
	switch os.Getenv(playing) {
	case "":
		os.Exit(m.Run())
	case "parent":
		parent(os.Args[1:])
	default:
		switch os.Args[1] {
		case GuardCommand:
			os.Exit(Guard(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case "server":
			server(os.Args[2:])
		}
	}
	os.Exit(0)
}

// server plays a server with manners: each word is one.
func server(manners []string) {
	port, status := "", http.StatusOK
	for _, m := range manners {
		if number, ok := strings.CutPrefix(m, "--port="); ok && port == "" {
			port = number
		}
		if number, ok := strings.CutPrefix(m, "listen="); ok {
			port = number
		}
	}
	mux := http.NewServeMux()
	for _, m := range manners {
		name, value, _ := strings.Cut(m, "=")
		switch name {
		case "say":
			fmt.Println(value)
		case "exit":
			code, _ := strconv.Atoi(value)
			os.Exit(code)
		case "status":
			status, _ = strconv.Atoi(value)
		case "deaf": // to SIGTERM
			signal.Ignore(syscall.SIGTERM)
		case "child", "daemon": // a child that outlives SIGTERM, in a session of its own
			c := exec.Command(os.Args[0], "server", "deaf", "hang")
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: name == "daemon"}
			if err := c.Start(); err != nil {
				panic(err)
			}
			fmt.Println("child", c.Process.Pid)
		case "hang":
			select {}
		case "old": // without /health
			mux.HandleFunc("/v1/models", func(http.ResponseWriter, *http.Request) {})
			mux.Handle("/health", http.NotFoundHandler())
		case "mute": // takes connections and says nothing
			l, err := net.Listen("tcp", "127.0.0.1:"+port)
			if err != nil {
				panic(err)
			}
			for {
				_, _ = l.Accept()
			}
		}
	}
	if !slices.Contains(manners, "old") {
		mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	fmt.Println(http.ListenAndServe("127.0.0.1:"+port, mux))
	os.Exit(1)
}

// parent starts a server and stays until it is killed, or its input ends.
func parent(args []string) {
	s, err := Start(context.Background(), Options{Command: args, Guard: []string{os.Args[0], GuardCommand},
		Env: []string{playing + "=1"}, Grace: 100 * time.Millisecond})
	if err == nil {
		fmt.Println("started", s.guard.Process.Pid)
		err = s.Ready(context.Background())
	}
	fmt.Println("ready", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Println("stopped", s.Stop())
}

// freePort is a port on which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.Fine(t, err)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// stand is a server of these tests, with its lines.
type stand struct {
	*Server
	mu    sync.Mutex
	lines []string
}

func (s *stand) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// end stops the server.
func (s *stand) end(t *testing.T) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// tree are the processes of the server, and of its guard.
func (s *stand) tree() []int { return append(descendants(s.guard.Process.Pid), s.guard.Process.Pid) }

// launch starts a server with manners.
func launch(t *testing.T, o Options, manners ...string) *stand {
	t.Helper()
	self, err := os.Executable()
	assert.Fine(t, err)
	s := &stand{}
	o.Command = append([]string{self, "server"}, manners...)
	o.Guard, o.Env = []string{self, GuardCommand}, append(o.Env, playing+"=1")
	o.Log = func(line string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, line)
	}
	if s.Server, err = Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

// gone fails if a process is alive.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err == nil {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			t.Errorf("process %d is alive: %.60s", pid, stat)
		}
	}
}

// free fails if a port is in use.
func free(t *testing.T, port string) {
	t.Helper()
	if l, err := net.Listen("tcp", "127.0.0.1:"+port); err != nil {
		t.Errorf("port %s: %v", port, err)
	} else {
		l.Close()
	}
}

// A server that behaves becomes ready, and leaves nothing; so do those that ignore SIGTERM and those with children and
// daemons.
func TestServer(t *testing.T) {
	t.Parallel()
	for _, manners := range []string{"", "old", "deaf", "child", "daemon", "daemon deaf child"} {
		t.Run(manners, func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			s := launch(t, Options{Grace: 50 * time.Millisecond, Ready: time.Minute},
				append(strings.Fields(manners), "say=hello", "--port="+port)...)
			assert.Fine(t, s.Ready(t.Context()))
			if at := s.Times(); at.Listening <= 0 || at.Healthy < at.Listening {
				t.Errorf("times %v", at)
			}
			assert.Equal(t, s.Address(), "http://127.0.0.1:"+port, "address")
			tree := s.tree()
			if want := 2 + strings.Count(manners, "child") + strings.Count(manners, "daemon"); len(tree) != want {
				t.Errorf("%d processes, want %d", len(tree), want)
			}
			if s.Err() != nil {
				t.Errorf("error %v of a server that runs", s.Err())
			}
			s.end(t)
			s.end(t)
			gone(t, tree...)
			free(t, port)
			select {
			case <-s.Died():
			default:
				t.Error("the server is not dead")
			}
			assert.Has(t, s.said(), "hello")
		})
	}
}

// A server that is not ready is told how far it came, within its limit.
func TestNotReady(t *testing.T) {
	t.Parallel()
	elsewhere := freePort(t)
	for _, c := range []struct {
		manners string
		ready   time.Duration
		want    []string
	}{
		{"say=loading say=failed exit=3", time.Minute,
			[]string{"the server command exited with status 3; its last lines:\n  loading\n  failed"}},
		{"exit=0", time.Minute, []string{"exited with status 0; it has printed nothing"}},
		{"child exit=1", time.Minute, []string{"exited with status 1"}},
		{"hang", time.Second, []string{"not ready after 1s: it runs, but nothing listens at http://127.0.0.1:",
			"; it has printed nothing"}},
		{"mute", 2 * time.Second,
			[]string{"and takes connections at http://127.0.0.1:", "but does not answer GET /health"}},
		{"say=here listen=" + elsewhere, 2 * time.Second,
			[]string{"its processes listen on port " + elsewhere, "its last lines:\n  here"}},
		{"status=503", 2 * time.Second, []string{"but answers 503 to GET /health"}},
	} {
		t.Run(c.manners, func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			manners := append([]string{"--port=" + port}, strings.Fields(c.manners)...)
			s := launch(t, Options{Grace: time.Minute, Ready: c.ready}, manners...)
			if at := listens(c.manners, port); at != "" { // within the limit it listens for sure
				eventually(t, func() bool { return (&Server{at: "127.0.0.1:" + at}).answers(t.Context()) })
			}
			err := s.Ready(t.Context())
			for _, want := range c.want {
				assert.Fails(t, "not ready", err, want)
			}
			tree := s.tree()
			// the guard waits for a minute, for a process that ignores SIGTERM
			if strings.Contains(c.manners, "child") {
				for _, pid := range tree[:len(tree)-1] {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			s.end(t)
			gone(t, tree...)
			free(t, port)
		})
	}
}

// listens is the port on which a server with manners listens at last, "" for none.
func listens(manners, port string) string {
	if strings.Contains(manners, "exit") || strings.Contains(manners, "hang") {
		return ""
	}
	if _, other, ok := strings.Cut(manners, "listen="); ok {
		return other
	}
	return port
}

// A command that cannot run, and an address that is taken, are errors of the start.
func TestStartFails(t *testing.T) {
	t.Parallel()
	self, _ := os.Executable()
	guard := Options{Guard: []string{self, GuardCommand}, Env: []string{playing + "=1"}}
	fails := func(want string, command ...string) {
		t.Helper()
		o := guard
		o.Command = command
		s, err := Start(t.Context(), o)
		if err == nil {
			_ = s.Stop()
		}
		assert.Fails(t, fmt.Sprint(command), err, want)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.Fine(t, err)
	defer l.Close()
	_, taken, _ := net.SplitHostPort(l.Addr().String())
	text := filepath.Join(t.TempDir(), "text")
	assert.Fine(t, os.WriteFile(text, []byte("no program"), 0o755))
	port := "--port=" + freePort(t)
	for want, command := range map[string][]string{
		"another server answers at http://127.0.0.1:" + taken + " already (process " + strconv.Itoa(os.Getpid()): {self,
			"server", "--port", taken},
		"cannot start the server command no-such-program: ": {
			"no-such-program", port},
		"exec format error": {text, port},
		"is empty":          {},
	} {
		fails(want, command...)
	}
	guard.Guard = []string{"/no/such/guard"}
	fails("no such file", self, port)
	guard.Guard = []string{"true"}
	fails("its guard ended at once", self, port)
}

// A process that takes the port of a server that does not use it is not taken for the server.
func TestForeign(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	s := launch(t, Options{Ready: time.Minute, Grace: 50 * time.Millisecond}, "hang", "--port="+port)
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	assert.Fine(t, err)
	other := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go func() { _ = other.Serve(l) }()
	assert.Fails(t, "another's port", s.Ready(t.Context()),
		fmt.Sprintf("another process answers at http://127.0.0.1:%s (process %d,", port, os.Getpid()))
	_ = other.Close()
	s.end(t)
}

// A guard that is killed takes the server with it.
func TestGuardKilled(t *testing.T) {
	t.Parallel()
	s := launch(t, Options{Ready: time.Minute}, "child", "--port="+freePort(t))
	assert.Fine(t, s.Ready(t.Context()))
	if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", s.guard.Process.Pid)); string(name) != guardName+"\n" {
		t.Errorf("the guard's process is called %q, so that killing this program by its name would kill both", name)
	}
	tree := descendants(s.guard.Process.Pid)
	assert.Fine(t, s.guard.Process.Kill())
	<-s.Died()
	assert.Fails(t, "killed", s.Err(), "lost its guard process")
	s.end(t)
	eventually(t, func() bool { return !slices.ContainsFunc(tree, alive) })
}

// alive reports whether a process runs; one that nothing reaps does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// eventually waits for a condition for as long as a busy machine needs.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the condition does not come true")
		}
	}
}

// A parent that is killed, at whatever moment, leaves nothing: before the server runs, before it is ready, later, and
// while it stops.
func TestParentKilled(t *testing.T) {
	t.Parallel()
	for i, after := range []string{"0ms", "2ms", "5ms", "10ms", "started", "ready", "stop"} {
		t.Run(after, func(t *testing.T) {
			t.Parallel()
			port, mark := freePort(t), fmt.Sprintf("mark-%d-%d", os.Getpid(), i)
			c := exec.Command(os.Args[0], os.Args[0], "server", mark, "daemon", "child", "deaf", "--port="+port)
			c.Env = append(os.Environ(), playing+"=parent", "MARK="+mark) // children inherit it
			in, _ := c.StdinPipe()
			out, _ := c.StdoutPipe()
			assert.Fine(t, c.Start())
			said := bufio.NewScanner(out)
			switch wait, err := time.ParseDuration(after); {
			case err == nil:
				time.Sleep(wait) // some moment
			default:
				for said.Scan() && !strings.HasPrefix(said.Text(), after) && said.Text() != "ready <nil>" {
				}
				if after == "stop" {
					_ = in.Close()
				}
			}
			assert.Fine(t, c.Process.Kill())
			_ = c.Wait()
			eventually(t, func() bool { return len(marked(mark)) == 0 })
			free(t, port)
		})
	}
}

// marked are the processes of which the command line, or that of the parent at their start, has a word.
func marked(mark string) (found []int) {
	for _, pid := range processes() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if alive(pid) && (strings.Contains(string(line), mark) || strings.Contains(string(env), "MARK="+mark)) {
			found = append(found, pid)
		}
	}
	return found
}

// A guard whose parent reads nothing any more ends the descendants of a command that ended first.
func TestGuardUnheard(t *testing.T) {
	t.Parallel()
	mark := fmt.Sprintf("mark-%d-unheard", os.Getpid())
	heard, says, err := os.Pipe()
	assert.Fine(t, err)
	_ = heard.Close()
	c := exec.Command(os.Args[0], GuardCommand, "10ms", os.Args[0], "server", mark, "daemon", "exit=0")
	c.Env = append(os.Environ(), playing+"=1", "MARK="+mark)
	c.Stdout = says
	lifeline, _ := c.StdinPipe()
	assert.Fine(t, c.Start())
	defer lifeline.Close()
	_ = says.Close()
	_ = c.Wait()
	for _, pid := range marked(mark) {
		t.Errorf("process %d is alive", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
