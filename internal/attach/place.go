package attach

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const ending = ".sock"

// directory is where the sockets of this user's runs are. It belongs to the user alone: $XDG_RUNTIME_DIR, which is, or a
// directory of our own below that of temporary files.
func directory() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("benchtop-%d", os.Getuid()))
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		dir = filepath.Join(runtime, "benchtop")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is no directory", dir)
	case !private(info):
		return "", fmt.Errorf("%s belongs to somebody else, or others can open it; remove it, or set XDG_RUNTIME_DIR", dir)
	}
	return dir, nil
}

func socketOf(dir string, pid int) string { return filepath.Join(dir, strconv.Itoa(pid)+ending) }

// Running is a run that can be joined.
type Running struct {
	PID  int
	Path string
	// Since is when it began to listen.
	Since time.Time
}

// Find lists this user's runs, the newest first. Sockets that nobody listens to are removed.
func Find() ([]Running, error) {
	dir, err := directory()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Running
	for _, e := range entries {
		pid, err := strconv.Atoi(strings.TrimSuffix(e.Name(), ending))
		info, e2 := e.Info()
		if err != nil || e2 != nil || pid <= 0 || !strings.HasSuffix(e.Name(), ending) {
			continue
		}
		r := Running{PID: pid, Path: filepath.Join(dir, e.Name()), Since: info.ModTime()}
		conn, err := net.DialTimeout("unix", r.Path, time.Second)
		switch {
		case err == nil:
			_ = conn.Close()
			out = append(out, r)
		case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist):
			_ = os.Remove(r.Path)
		}
	}
	slices.SortFunc(out, func(a, b Running) int { return b.Since.Compare(a.Since) })
	return out, nil
}
