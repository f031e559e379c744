package run

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

var save = metrics.Command{Do: metrics.Save}

// A result of the run so far stands beside the place of the last one, and says that it was saved while the run was on.
func TestSaveSoFar(t *testing.T) {
	plan := metrics.Plan{ModelID: "m"}
	place := reserved(t, plan)
	synctest.Test(t, func(t *testing.T) {
		c := small(t, plan, 30)
		c.Files = place
		r := begin(t, c)
		time.AfterFunc(2050*time.Millisecond, func() {
			if said, ok := r.Command(save); said != "saving an interim result" || !ok {
				t.Errorf("said %q", said)
			}
		})
		run := measureAll(t, r)
		r.asides.Wait()
		path := strings.TrimSuffix(place.Path, ".json") + "-so-far.json"
		text := assert.Must(os.ReadFile(path))(t)
		var soFar struct {
			Duration  float64
			Completed int
			Benchtop  struct{ Interrupted metrics.Interruption }
		}
		assert.Fine(t, json.Unmarshal(text, &soFar))
		if soFar.Duration != 2.05 || soFar.Completed == 0 || soFar.Completed > 21 {
			t.Errorf("after %g s %d requests", soFar.Duration, soFar.Completed)
		}
		if i := soFar.Benchtop.Interrupted; i.Reason != "interim result" || i.Unsent != 9 || run.Unsent != 0 ||
			run.Reason != "" {
			t.Errorf("interrupted %+v; in the end %d unsent, reason %q", i, run.Unsent, run.Reason)
		}
		if all := texts(t, r); !slices.Contains(all, "info: interim result saved to "+path) {
			t.Errorf("the log is %q", all)
		}
		if said, ok := r.Command(save); said != "the run is over; its result is saved" || ok {
			t.Errorf("when the run is over: %q", said)
		}
		_ = r.journal.Close()
	})
}

// A save that cannot be is refused, or its failure is in the log; the next one may try again.
func TestSaveSoFarFails(t *testing.T) {
	place := reserved(t, metrics.Plan{})
	gone(t, place)
	synctest.Test(t, func(t *testing.T) {
		c := small(t, metrics.Plan{}, 1)
		r := begin(t, c)
		if said, ok := r.Command(save); said != "this run is not saved (--no-save)" || ok {
			t.Errorf("without files: %q", said)
		}
		r.config.Files = place
		for range 2 {
			var first, second string
			r.call(func() { first, _ = r.saveSoFar(); second, _ = r.saveSoFar() })
			if first != "saving an interim result" || second != "still saving" {
				t.Errorf("said %q and %q", first, second)
			}
			synctest.Wait()
			r.asides.Wait()
		}
		all := texts(t, r)
		if failed := all[max(0, len(all)-2):]; !strings.HasPrefix(failed[0],
			"error: the interim result could not be saved: ") || failed[1] != failed[0] {
			t.Errorf("the log is %q", all)
		}
	})
}

// A journal that another program cut gives no result of the run so far.
func TestSaveSoFarOfACutJournal(t *testing.T) {
	disk := &readDisk{}
	r := journalOn(t, disk)
	_ = r.journal.Flush()
	disk.Reset()
	path := t.TempDir() + "/r.json"
	if err := r.write(path, metrics.End{}); err == nil || !strings.HasPrefix(err.Error(), "reading the journal: ") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a result was written")
	}
	_ = r.journal.Close()
}
