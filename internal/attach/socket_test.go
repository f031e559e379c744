package attach

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// places gives the test a runtime directory of its own, and one of temporary files.
func places(t *testing.T) (runtime string) {
	t.Helper()
	// Not t.TempDir: its name may be longer than that of a socket may be.
	dir, err := os.MkdirTemp("", "bt")
	assert.Fine(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	runtime, temporary := filepath.Join(dir, "run"), filepath.Join(dir, "tmp")
	for _, d := range []string{runtime, temporary} {
		assert.Fine(t, os.Mkdir(d, 0o700))
	}
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("TMPDIR", temporary)
	return runtime
}

// A file in the way of a directory stops root as well.
func occupy(t *testing.T, path string) {
	t.Helper()
	assert.Fine(t, os.RemoveAll(path))
	assert.Fine(t, os.WriteFile(path, nil, 0o600))
}

// finds checks that the sockets of the runs that are found are those of this process.
func finds(t *testing.T, paths ...string) {
	t.Helper()
	all, err := Find()
	if err != nil || len(all) != len(paths) {
		t.Errorf("found %+v, %v, want %q", all, err, paths)
		return
	}
	for i, found := range all {
		if found.PID != os.Getpid() || found.Path != paths[i] {
			t.Errorf("found %+v, want %s", found, paths[i])
		}
	}
}

// A socket that was removed is made again, elsewhere where its directory cannot be; one that is there is left alone.
func TestKeep(t *testing.T) {
	runtime := places(t)
	synctest.Test(t, func(t *testing.T) {
		first, err := openOwn()
		assert.Fine(t, err)
		opened := make(chan string, 9)
		ctx, cancel := context.WithCancel(t.Context())
		var keeping sync.WaitGroup
		keeping.Go(func() { keep(ctx, first, func(s *socket) { opened <- s.path }) })
		next := func(want string) {
			t.Helper()
			time.Sleep(2 * standsEvery)
			synctest.Wait()
			got := ""
			select {
			case got = <-opened:
			default:
			}
			assert.Equal(t, got, want, "opened")
		}
		dirs := directories()
		next(socketOf(dirs[0], os.Getpid()))
		next("")
		assert.Fine(t, os.RemoveAll(filepath.Join(runtime, "benchtop")))
		next(socketOf(dirs[0], os.Getpid()))
		occupy(t, runtime)
		next(socketOf(dirs[1], os.Getpid()))
		next("")
		cancel()
		keeping.Wait()
		if _, err := os.Lstat(socketOf(dirs[1], os.Getpid())); err == nil {
			t.Error("the socket is still there")
		}
	})
}

// The socket of a process with the same number in another container is not taken away.
func TestTaken(t *testing.T) {
	places(t)
	s, err := openOwn()
	assert.Fine(t, err)
	defer s.close()
	if other, err := openOwn(); err == nil {
		other.close()
		t.Error("there are two")
	}
	if !s.stands() {
		t.Error("the first is gone")
	}
}

// Runs are found in both directories; none is made to look into it.
func TestFindElsewhere(t *testing.T) {
	runtime := places(t)
	occupy(t, runtime)
	h, err := Listen(newRun(), "v1")
	assert.Fine(t, err)
	defer h.Close()
	assert.Fine(t, os.Remove(runtime))
	finds(t, socketOf(directories()[1], os.Getpid()))
	if _, err := os.Lstat(runtime); err == nil {
		t.Error("a directory was made")
	}
}

// Where no socket can be, the error says why; files that are no sockets of runs are passed over.
func TestNoPlaceForASocket(t *testing.T) {
	runtime := places(t)
	best := filepath.Join(runtime, "benchtop")
	occupy(t, best)
	assert.Fails(t, "a file", usable(best), best+" is not a directory")
	if _, err := Find(); err == nil {
		t.Error("runs were looked for in a file")
	}
	occupy(t, os.Getenv("TMPDIR"))
	if _, err := Listen(newRun(), "v1"); err == nil || strings.Count(err.Error(), "not a directory") != 2 {
		t.Errorf("no directory: %v", err)
	}
	assert.Fine(t, os.Remove(best))
	assert.Fine(t, os.Mkdir(best, 0o700))
	for _, name := range []string{"0.sock", "-7.sock", "x.sock", "12", "12.txt"} {
		occupy(t, filepath.Join(best, name))
	}
	finds(t)
	assert.Equal(t, len(assert.Must(os.ReadDir(best))(t)), 5, "ReadDir")
	if _, err := open(filepath.Join(best, strings.Repeat("x", 200))); err == nil {
		t.Error("a path that is too long for a socket")
	}
}
