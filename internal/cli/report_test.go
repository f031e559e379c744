package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// A directory is no damaged journal: what to give is said.
func TestReportOfADirectory(t *testing.T) {
	dir := t.TempDir()
	const words = " is a directory; name a result (.json) or a journal (.jsonl or .jsonl.gz) in it"
	benchtop("report", dir).expect(t, session.ExitFailed, "benchtop: "+dir+words)
	benchtop("report", "--baseline", dir, "x.json").expect(t, session.ExitUsage, "--baseline: "+dir+words)
}

// A journal that was cut off serves as a baseline as far as it goes; one of which nothing can be read does not.
func TestBaselineCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	benchtop("serve", "--base-url", simulated(t, nil), "--num-prompts", "60", "--vocab-size", "300",
		"--random-input-len", "5", "--random-output-len", "4",
		"--save-result", "--result-dir", dir, "--result-filename", "r.json").expect(t, session.ExitFine)
	journal := assert.Must(os.ReadFile(filepath.Join(dir, "r.jsonl.gz")))(t)
	cut := func(name string, length int) string {
		path := filepath.Join(dir, name)
		assert.Fine(t, os.WriteFile(path, journal[:length], 0o600))
		return path
	}
	for _, part := range []float64{0.6, 0.9} {
		path := cut("cut.jsonl.gz", int(part*float64(len(journal))))
		r := benchtop("report", "--baseline", path, filepath.Join(dir, "r.json"))
		r.expect(t, session.ExitFine, "Successful requests:                     60",
			"\nAgainst "+filepath.Base(path)+" ", "WARNING: --baseline: "+path, "unexpected EOF; only the ")
	}
	benchtop("report", "--baseline", cut("none.jsonl.gz", 100), filepath.Join(dir, "r.json")).expect(t,
		session.ExitUsage, "--baseline: ", "EOF")
}

// A page of two runs replaces an older page, although a third has no report; it never replaces a run.
func TestReportAsAPage(t *testing.T) {
	dir := t.TempDir()
	benchtop("serve", "--base-url", simulated(t, nil), "--num-prompts", "20", "--vocab-size", "300",
		"--random-input-len", "5", "--random-output-len", "4", "--html",
		"--save-result", "--result-dir", dir, "--result-filename", "r.json").expect(t, session.ExitFine,
		"r.report.html")
	run, path := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.report.html")
	benchtop("report", "--html", run, run).expect(t, session.ExitUsage,
		"--html "+run+": name a file that ends in .html")
	benchtop("report", "--html", path, run, run, filepath.Join(dir, "none.json")).expect(t, session.ExitFailed,
		"report written to "+path, "none.json")
	page := assert.Must(os.ReadFile(path))(t)
	assert.Has(t, string(page), "<h1>2 runs</h1>", "<td>20</td>", " --num-prompts=20 ",
		"No evidence for the two runs: ")
}

// The journal names the rule that timed the chunks of a chat; a baseline of another rule gets a warning.
func TestBaselineOfAnotherRule(t *testing.T) {
	dir := t.TempDir()
	benchtop("serve", "--base-url", simulated(t, nil), "--backend", "openai-chat", "--num-prompts", "3",
		"--random-input-len", "5", "--random-output-len", "3",
		"--save-result", "--result-dir", dir, "--result-filename", "r.json").expect(t, session.ExitFine)
	path := filepath.Join(dir, "r.jsonl.gz")
	journal := unpacked(t, path)
	const words = "does not say that its chat streams were timed as in vLLM 0.33"
	if r := benchtop("report", "--baseline", path, path); strings.Contains(r.stderr, words) {
		t.Errorf("the same rule: %s", r.stderr)
	}
	old := filepath.Join(dir, "old.jsonl")
	assert.Fine(t, os.WriteFile(old, bytes.Replace(journal, []byte(`"rule":"vllm-0.33"`), []byte(`"rule":"older"`), 1),
		0o600))
	benchtop("report", "--baseline", old, path).expect(t, session.ExitFine, words)
}

func TestReportAudit(t *testing.T) {
	runs := filepath.Join("testdata", "runs", "v2")
	faults := filepath.Join(runs, "faults.jsonl.gz")
	benchtop("report", "--audit", faults).expect(t, session.ExitMissed, "Audit: not valid, by 3 of 19 checks: ",
		"35 of 90 requests failed", "no failed request", "stream                 valid")
	benchtop("report", "--audit", faults, filepath.Join(runs, "none.jsonl")).expect(t, session.ExitFailed, "failures",
		"none.jsonl")
	benchtop("report", "--audit", "--json", faults).expect(t, session.ExitUsage, "have the audit anyway")

	// A journal that is cut tells so, and foreign files are none.
	dir := t.TempDir()
	cut, foreign := filepath.Join(dir, "cut.jsonl.gz"), filepath.Join(dir, "foreign.json")
	data := assert.Must(os.ReadFile(faults))(t)
	assert.Fine(t, os.WriteFile(cut, data[:len(data)/2], 0o600))
	assert.Fine(t, os.WriteFile(foreign, []byte(`{"<script>\u001b[2J": 1}`), 0o600))
	benchtop("report", "--audit", cut).expect(t, session.ExitFailed, "plan                   not valid", "EOF")
	r := benchtop("report", "--audit", foreign)
	if r.expect(t, session.ExitFailed, "no journal"); strings.Contains(r.stdout+r.stderr, "\x1b") {
		t.Errorf("escapes in %q", r.stdout+r.stderr)
	}
}
