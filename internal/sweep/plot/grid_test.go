package plot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// A combination is a row, with the means of the runs that have a figure.
func TestGrid(t *testing.T) {
	dir := t.TempDir()
	for name, runs := range map[string]string{
		"BENCH--a=10": `[{"request_throughput": 2, "p99_ttft_ms": 10}, {"request_throughput": 4}]`,
		"BENCH--a=2":  `[{"request_throughput": 5, "failed": 1}]`} {
		path := filepath.Join(dir, name, "summary.json")
		assert.Fine(t, os.Mkdir(filepath.Dir(path), 0o700))
		assert.Fine(t, os.WriteFile(path, []byte(runs), 0o600))
	}
	records := assert.Must(Read(dir, func(_, text string) string { return text }))(t)
	got := Grid(records).CSV()
	if want := "BENCH--a=2,1,5.00,-,-,-,-,-,1.00\nBENCH--a=10,2,3.00,-,-,10.00,-,-,-\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
