package hub

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/hf/hub/hubtest"
)

// whole is a check: the content has to end in a dot.
func whole(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err == nil && !bytes.HasSuffix(data, []byte(".")) {
		err = errors.New("it has no end")
	}
	return err
}

func TestFetchKeepsOnlyWhatWasWanted(t *testing.T) {
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n."
	files := map[string]string{"part": "cut o", "pointer": pointer, "good": "good."}
	s := serve(t, files)
	home := t.TempDir()
	fetch := func(name string) error {
		f := lines(name)
		f.Check = whole
		_, err := ofHub(s, home, nil).Fetch(t.Context(), theDataset(t), f)
		return err
	}
	complains(t, fetch("part"), "part of org/name from 127.0.0.1", "came as something else: it has no end; try again")
	complains(t, fetch("pointer"), "a pointer of Git's to a large file came instead of pointer of org/name")
	nothingIn(t, filepath.Join(home, "own"))
	files["part"] = "whole again."
	assert.Fine(t, fetch("part"))
	assert.Fine(t, fetch("good"))
}

func TestFetchReplacesWhatIsDamaged(t *testing.T) {
	s := serve(t, map[string]string{"a": "of the hub."})
	home := hubtest.Plant(t, map[string]string{
		"hf/hub/datasets--org--name/refs/main":       "abc",
		"hf/hub/datasets--org--name/snapshots/abc/a": "cut o",
	})
	f := lines("a")
	f.Check = whole
	for range 2 { // the second time our own is damaged, too
		path, err := ofHub(s, home, nil).Fetch(t.Context(), theDataset(t), f)
		if data, _ := os.ReadFile(path); string(data) != "of the hub." || len(s.Asked()) != 1 {
			t.Fatalf("got %q, error %v", data, err)
		}
		assert.Fine(t, os.WriteFile(path, []byte("of"), 0o600))
	}
	_, err := ofHub(s, home, nil, "HF_HUB_OFFLINE", "1").Fetch(t.Context(), theDataset(t), f)
	complains(t, err, filepath.Join("abc", "a")+": it has no end", filepath.Join("main", "a")+": it has no end",
		"HF_HUB_OFFLINE is set")
}

// Half-written files of a killed process do not pile up; those that another process may be writing stay.
func TestLeftoversAreCleared(t *testing.T) {
	old := time.Now().Add(-2 * abandonedAfter)
	keep := map[string]func(parent string) error{
		"file": func(parent string) error { return keepFile(filepath.Join(parent, "a"), []byte("x")) },
		"directory": func(parent string) error {
			return KeepDirectory(filepath.Join(parent, "a"), map[string][]byte{"b": []byte("x")},
				func(string) error { return nil })
		},
	}
	for name, keep := range keep {
		t.Run(name, func(t *testing.T) {
			parent := hubtest.Plant(t, map[string]string{".incomplete-1/x": "1", ".incomplete-2/x": "2",
				".incomplete-3/x": "3", "other/x": "4"})
			// 3 is being written, for hours
			for _, name := range []string{".incomplete-1/x", ".incomplete-1", ".incomplete-3", "other"} {
				assert.Fine(t, os.Chtimes(filepath.Join(parent, name), old, old))
			}
			assert.Fine(t, keep(parent))
			entries, _ := os.ReadDir(parent)
			var names []string
			for _, entry := range entries {
				names = append(names, entry.Name())
			}
			if got := strings.Join(names, " "); got != ".incomplete-2 .incomplete-3 a other" {
				t.Errorf("got %s", got)
			}
		})
	}
}

// A hub that hangs up says nothing; the message does.
func TestHubThatHangsUp(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.Fine(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 4096)) // the request, so that closing is no reset
			conn.Close()
		}
	}()
	_, err = ofHub(serve(t, nil), t.TempDir(), nil, "HF_ENDPOINT", "http://"+listener.Addr().String()).Fetch(
		t.Context(), theDataset(t), lines("a"))
	complains(t, err, "the connection was closed without an answer; try again")
}
