package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

const page = `# Page

Words before.

<!-- table: one -->
old
<!-- end: one -->

<!-- table: two -->
<!-- end: two -->
Words behind.
`

func TestReplaced(t *testing.T) {
	got, err := replaced(page, "one", "new\n")
	if want := strings.Replace(page, "\nold\n", "\n\nnew\n\n", 1); err != nil || got != want {
		t.Errorf("got %v:\n%s\nwant:\n%s", err, got, want)
	}
	again, err := replaced(got, "one", "new\n")
	if err != nil || again != got {
		t.Errorf("the second time it differs: %v\n%s", err, again)
	}
	for name, broken := range map[string]string{
		"three": page, "one": strings.Replace(page, "<!-- end: one -->", "", 1),
		"two": page[:strings.Index(page, "<!-- end: two")],
	} {
		assert.Complains(t, assert.Failure(replaced(broken, name, "x")), name)
	}
}

func TestFile(t *testing.T) {
	t.Chdir(t.TempDir())
	assert.Fine(t, os.MkdirAll(filepath.Dir(pagePath), 0o755))
	assert.Fine(t, os.WriteFile(pagePath, []byte(page), 0o644))
	here := machine{CPU: "a CPU", Cores: 2}
	for _, name := range []string{"one", "two", "one"} {
		tab := table{name: name, rounds: 1, rows: []row{scripted("r", "a", 1)}, columns: []column{{"a", "A", 0}}}
		m := assert.Must(tab.measure(t.Context(), nil))(t)
		assert.Fine(t, save(tab, m, here, "table "+name))
	}
	b := assert.Must(os.ReadFile(recordPath))(t)
	var kept struct {
		Schema int
		Tables map[string]recordTable
	}
	if err := json.Unmarshal(b, &kept); err != nil || kept.Schema != recordSchema || len(kept.Tables) != 2 {
		t.Fatalf("%v in %s", err, b)
	}
	if one := kept.Tables["one"]; one.Machine != here || len(one.Rows) != 1 || one.Rows[0].Rounds[0].Figures["a"] != 1 {
		t.Errorf("got %+v", one)
	}
	assert.Fine(t, os.WriteFile(recordPath, []byte("{"), 0o644))
	assert.Complains(t, saveRecord(table{name: "one"}, nil, here), recordPath)
}
