package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
	"benchtop/internal/ci"
	"benchtop/internal/files"
	"benchtop/internal/session"
)

// The runs in testdata hold the program to what it did: a journal that was written once is read for ever, and gives the
// same report; a run in virtual time gives the same journal again; and what a replay of it shows is what was shown
// live.
//
//	testdata/runs/NAME.live           what the run showed at the end of each second
//	testdata/runs/vN/NAME.jsonl.gz    its journal, as the version N of the journal has it; written once
//	testdata/runs/vN/NAME.json, .txt  the report of that journal
//	testdata/runs/vN/NAME.differs     where a replay of that journal shows something else than NAME.live, if it is
//	                                  older than today's, or cut off
//
// -update writes all but the journals. After the version of the journal has risen, -new-journals writes those of the
// new version.
var newJournals = flag.Bool("new-journals", false, "write journals of runs where there are none")

const runsDir = "testdata/runs"

// journalsOnFile are the committed journals of all versions.
func journalsOnFile(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(runsDir, "v*", "*"+files.JournalSuffix+".gz"))
	if err != nil || len(all) == 0 {
		t.Fatal("no journals: ", err)
	}
	return all
}

// A run in virtual time gives the journal and the report that it always gave, but for their words, and the views.
func TestRunsRepeat(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, c := range scenarios() {
		t.Run(c.name, func(t *testing.T) {
			r := drive(t, &c)
			file := filepath.Join(runsDir, c.name+".live")
			if *golden.Update {
				golden.Same(t, file, viewsText(r.seconds))
			}
			live := parseViews(string(readFile(t, file)))
			known := filepath.Join(runsDir, fmt.Sprintf("v%d", versionOf(t, r.journal)),
				c.name+files.JournalSuffix+".gz")
			if _, err := os.Stat(known); err != nil && *newJournals {
				zipped(t, known, r.journal)
			}
			now := filepath.Join(t.TempDir(), c.name+files.JournalSuffix+".gz")
			zipped(t, now, r.journal)
			shown, replayed, was := r.seconds, replayViews(t, now), replayViews(t, known)
			for _, x := range []struct{ what, diff string }{
				{"what it showed", cmp.Diff(viewsText(live), viewsText(shown))},
				{"its journal", cmp.Diff(comparable(unzipped(t, known)), comparable(r.journal))},
				{"its report", cmp.Diff(figures(t, known), figures(t, now))},
				{"what a replay of it shows", cmp.Diff(differences(wordless(live), wordless(was)),
					differences(wordless(shown), wordless(replayed)))},
			} {
				assert.Equal(t, x.diff, "", "%s is another", x.what)
			}
			if result := benchtop("report", "--json", now).stdout; r.result != nil && result != string(r.result) {
				t.Error("the result that was saved is another than that of the journal: ",
					cmp.Diff(string(r.result), result))
			}
		})
	}
}

// A journal gives the report it always gave.
func TestRunsReported(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("TERM", "xterm")
	for _, file := range journalsOnFile(t) {
		stem := strings.TrimSuffix(file, files.JournalSuffix+".gz")
		text, result := benchtop("report", "--no-tui", file), benchtop("report", "--json", file)
		text.expect(t, session.ExitFine)
		result.expect(t, session.ExitFine)
		golden.Same(t, stem+".txt", text.stdout)
		golden.Same(t, stem+".json", folded(withoutDates(result.stdout)))
	}
}

// A replay of an older journal shows what the run showed, but for what that has no lines for.
func TestRunsReplayed(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, file := range journalsOnFile(t) {
		stem := strings.TrimSuffix(file, files.JournalSuffix+".gz")
		live := parseViews(string(readFile(t, filepath.Join(runsDir, filepath.Base(stem)+".live"))))
		diff := differences(wordless(live), wordless(replayViews(t, file)))
		if versionOf(t, unzipped(t, file)) < 2 || strings.HasSuffix(stem, "killed") {
			golden.Same(t, stem+".differs", diff)
		} else if diff != "" {
			t.Errorf("a replay of %s differs: %s", file, diff)
		}
	}
}

// versionOf is the version of a journal.
func versionOf(t *testing.T, journal []byte) int {
	t.Helper()
	first, _, _ := bytes.Cut(journal, []byte("\n"))
	var header struct {
		Version int `json:"benchtop_journal"`
	}
	assert.Fine(t, json.Unmarshal(first, &header))
	return header.Version
}

// ownInPlan is what a plan has from the machine: which build it was, and the clock on its wall.
var ownInPlan = regexp.MustCompile(`"(version|started)":"[^"]*"`)

// comparable are the lines of a journal that every machine writes alike, sorted: what happens at one instant may stand
// in either order.
func comparable(journal []byte) []string {
	lines := strings.Split(withoutPorts(string(withoutClient(journal))), "\n")
	lines[0] = ownInPlan.ReplaceAllString(lines[0], "")
	for i := range lines {
		lines[i] = wordsInJournal.ReplaceAllString(lines[i], `"$1":`)
		lines[i] = folderOfResult.ReplaceAllString(lines[i], `"path":"`)
		for _, later := range []string{`,"cached_known":true`, `,"context":32768`} { // not in an older journal
			lines[i] = strings.Replace(lines[i], later, "", 1)
		}
		lines[i] = draftsInSample.ReplaceAllString(lines[i], "$1")
	}
	slices.Sort(lines)
	return lines
}

// draftsInSample are not in an older journal.
var draftsInSample = regexp.MustCompile(`^(\{"server":.*),"spec_decode":\{[^}]*\}`)

// wordsInJournal are those for a person: of events, of the plan, of what the load cannot do.
var wordsInJournal = regexp.MustCompile(
	`"(text|load|dataset|search|why|absent|definitions)":("(?:[^"\\]|\\.)*"|\{"e2el"[^}]*\})`)

// clientLine is a line in which the client speaks of itself: it was another machine's, or a busier one's.
var clientLine = regexp.MustCompile(`(?m)^({"client":|{"event":.*"text":"` + clientSays + `).*\n`)

func withoutClient(journal []byte) []byte { return clientLine.ReplaceAll(journal, nil) }

// portInError is in what a broken connection says: which one it was depends on which of those at rest was taken.
var portInError = regexp.MustCompile(`pipe client-\d+`)

func withoutPorts(text string) string { return portInError.ReplaceAllString(text, "pipe client") }

// folderOfResult is another one each time.
var folderOfResult = regexp.MustCompile(`"path":"[^"]*/`)

// datesInJSON depend on the time zone.
var datesInJSON = regexp.MustCompile(`"(date|timestamp)": ?"[^"]*"`)

func withoutDates(text string) string { return datesInJSON.ReplaceAllString(text, `"$1":""`) }

// folded gives each member of a JSON object a line of its own.
func folded(text string) string { return strings.ReplaceAll(text, `, "`, ",\n\"") }

// figures are those of a journal's report, but for what every machine has otherwise.
func figures(t *testing.T, file string) (result map[string]any) {
	t.Helper()
	plain := filepath.Join(t.TempDir(), "run"+files.JournalSuffix)
	assert.Fine(t, os.WriteFile(plain, withoutClient(unzipped(t, file)), 0o644))
	r := benchtop("report", "--json", plain)
	r.expect(t, session.ExitFine)
	assert.Fine(t, json.Unmarshal([]byte(withoutPorts(r.stdout)), &result))
	own := result["benchtop"].(map[string]any)
	delete(own, "client")
	delete(own, "version")
	// an older journal does not say which answers told of 0
	if cached, ok := own["cached_tokens"].(map[string]any); ok {
		for _, key := range []string{"requests", "prompt_tokens", "hit_rate"} {
			delete(cached, key)
		}
		if cached["tokens"] == 0.0 {
			own["cached_tokens"] = nil
		}
	}
	for _, words := range []string{"definitions", "dataset", "load"} {
		delete(own, words)
	}
	for _, e := range own["events"].([]any) {
		delete(e.(map[string]any), "text")
	}
	return result
}

// beforeV2 is the key that lines of requests have had since version 2.
var beforeV2 = regexp.MustCompile(`,"dataset_tokens":\d+`)

// The lines of requests say the same in every version of the journal, and so do the reports.
func TestRunsOfAllVersions(t *testing.T) {
	for _, c := range scenarios() {
		requests := func(version string) (lines []string) {
			file := filepath.Join(runsDir, version, c.name)
			for line := range strings.Lines(string(unzipped(t, file+files.JournalSuffix+".gz"))) {
				if strings.HasPrefix(line, requestLine) {
					lines = append(lines, withoutPorts(beforeV2.ReplaceAllString(line, "")))
				}
			}
			slices.Sort(lines)
			if c.killed > 0 { // before version 2 no line but the last named the server
				return lines
			}
			return append(lines, withoutPorts(string(readFile(t, file+".txt"))))
		}
		if _, err := os.Stat(filepath.Join(runsDir, "v1", c.name+files.JournalSuffix+".gz")); os.IsNotExist(err) {
			continue // it came with a later version
		}
		assert.Same(t, c.name, requests("v2"), requests("v1"))
	}
}
