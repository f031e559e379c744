package panels

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestFixturesAreThoseOfTheDashboard: the runs that tests make up stand here and in the package of the dashboard, since neither can import the
// tests of the other. Both are the same but for the name of the package.
func TestFixturesAreThoseOfTheDashboard(t *testing.T) {
	files, _ := filepath.Glob("fixtures_*_test.go")
	if len(files) < 3 {
		t.Fatalf("only %v", files)
	}
	for _, name := range files {
		here, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		there, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.Replace(here, []byte("package panels"), []byte("package tui"), 1), there) {
			t.Errorf("%s differs from ../%s", name, name)
		}
	}
}
