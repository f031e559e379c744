package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// Two runs are compared piece by piece: a server with itself is no evidence, and one that is slower is. What the runs
// have not in common is said first.
func TestCompareProves(t *testing.T) {
	dir := t.TempDir()
	measure := func(name string, speed float64, args ...string) {
		p := simulator.Defaults()
		p.Speed *= speed
		inVirtualTime(t, p, nil, func(t *testing.T, server *virtual) {
			server.serve(t, append([]string{"--model", p.Model, "--dataset-name", "random", "--random-input-len", "32",
				"--random-output-len", "8", "--request-rate", "10", "--duration", "60s", "--save-result",
				"--result-dir",
				dir, "--result-filename", name}, args...)...)
		})
	}
	measure("a.json", 1)
	measure("again.json", 1, "--seed", "1")
	measure("slower.json", .7, "--seed", "2", "--random-output-len", "9")
	at := func(name string) string { return filepath.Join(dir, name) }
	gates := []string{"--fail-on", "median_ttft>+10%", "--fail-on", "output_throughput<-50%"}

	same := benchtop(append([]string{"compare", at("a.json"), at("again.json")}, gates...)...)
	same.expect(t, session.ExitFine, "Evidence, ", "no evidence")
	for _, words := range []string{"worse", "better", "The runs differ", "do not prove"} {
		if strings.Contains(same.stdout+same.stderr, words) {
			t.Errorf("the same server: %q in %s", words, same.stdout)
		}
	}

	slower := benchtop(append([]string{"compare", at("a.json"), at("slower.json")}, gates...)...)
	slower.expect(t, session.ExitMissed, "The runs differ", "output tokens of a request", "worse",
		": Median TTFT (ms) changed by ")
	assert.Lacks(t, slower.stderr, "output_throughput")

	compareForms(t, append([]string{"compare", at("a.json"), at("slower.json")}, gates...))
	several := benchtop("compare", at("a.json")+","+at("again.json"), at("slower.json")+",")
	several.expect(t, session.ExitFine, "a and 1 more", "worse")
	benchtop("compare", at("a.jsonl.gz"), at("slower.jsonl.gz")).expect(t, session.ExitFine, "Evidence, ", "worse")

	assert.Fine(t, os.Remove(at("again.jsonl.gz")))
	benchtop("compare", at("a.json"), at("again.json"), "--fail-on", "mean_ttft>+1%").expect(t, session.ExitFine,
		", 10 req/s: not tested: a result has no whole journal",
		"a result has no whole journal of its own beside it, so that pieces of runs cannot be compared", "do not prove")
}

// compareForms writes a comparison, whose median of TTFT is worse, in the forms for programs and for a browser.
func compareForms(t *testing.T, command []string) {
	t.Helper()
	written := map[string]string{}
	for _, ending := range []string{"json", "xml", "csv", "html"} {
		path := filepath.Join(t.TempDir(), "comparison."+ending)
		benchtop(append(command, "--output", path)...).expect(t, session.ExitMissed, "saved in ")
		raw := assert.Must(os.ReadFile(path))(t)
		written[ending] = string(raw)
	}
	var all struct {
		Tables []struct {
			Title string
			Rows  []map[string]any
		}
	}
	assert.Fine(t, json.Unmarshal([]byte(written["json"]), &all))
	line := ""
	for _, table := range all.Tables {
		for _, row := range table.Rows {
			if row["figure"] == "median_ttft_ms" {
				line = fmt.Sprint(row["a"], ",", row["b"], ",", row["change"], ",", row["low"], ",", row["high"],
					",worse,")
			}
		}
	}
	if line == "" || !strings.Contains(written["csv"], ",median_ttft_ms,"+line) {
		t.Errorf("CSV without the row of JSON, %s:\n%s", line, written["csv"])
	}
	if strings.Count(written["xml"], "<failure") != 1 || !strings.Contains(written["xml"], `tests="3" failures="1"`) {
		t.Errorf("JUnit: %s", written["xml"])
	}
	evidence := strings.Index(written["html"], "Evidence, ")
	if ratios := strings.Index(written["html"], "Ratio 1 vs 2"); evidence < 0 || ratios < evidence {
		t.Errorf("evidence at %d, ratios at %d of the page", evidence, ratios)
	}
}
