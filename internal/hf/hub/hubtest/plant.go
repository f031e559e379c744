// Package hubtest makes directories such as the hub's caches, for tests.
package hubtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Plant writes files below a new directory, which goes with the test. A content that begins with "-> " makes a link to
// what follows.
func Plant(t testing.TB, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
