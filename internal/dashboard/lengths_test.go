package dashboard

import (
	"os"
	"path/filepath"
	"testing"

	"benchtop/internal/assert"
)

// The lengths of a result are those of its flags, wherever they were given: in the command, or in a file.
func TestLengthsOfAResult(t *testing.T) {
	for flags, want := range map[string][2]float64{
		`"command": ["serve"]`: {1024, 128},
		`"command": ["serve", "--random-input-len", "48", "--random-output-len=8"]`:                   {48, 8},
		`"command": ["serve", "--config", "r.yaml"], "spec": {"random-input-len": "48", "seed": "1"}`: {48, 128},
		`"command": ["serve"], "spec": {"random-input-len": "48", "input-len": "64",
			"goodput": ["ttft:1", "tpot:2"]}`: {64, 128},
	} {
		path := filepath.Join(t.TempDir(), "r.json")
		result := `{"backend": "openai", "duration": 1, "completed": 1, "request_throughput": 1, "mean_ttft_ms": 1, ` +
			`"benchtop": {` + flags + `}}`
		assert.Fine(t, os.WriteFile(path, []byte(result), 0o600))
		rows, _, err := Read(path)
		if err != nil || len(rows) != 1 || rows[0]["Input Len"] != want[0] || rows[0]["Output Len"] != want[1] {
			t.Errorf("%s: %v, %v; want %v", flags, rows, err, want)
		}
	}
}
