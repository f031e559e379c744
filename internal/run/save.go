package run

import (
	"fmt"
	"io"
	"strings"
	"time"

	"benchtop/export"
	"benchtop/internal/files"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// saveSoFar writes a result of the run so far beside the place of the result to come. The work is done beside the run; the log
// tells how it went.
func (r *Run) saveSoFar() (said string, ok bool) {
	switch {
	case r.config.Files == nil:
		return "this run is not saved (--no-save)", false
	case r.saving:
		return "still saving", false
	}
	r.saving = true
	path, end := strings.TrimSuffix(r.config.Files.Path, ".json")+files.SoFar+".json", r.soFar()
	end.Ended, end.Reason = time.Since(r.start).Round(time.Microsecond), "saved while it was on"
	r.asides.Go(func() {
		defer r.call(func() { r.saving = false })
		if err := r.write(path, end); err != nil {
			r.Log(metrics.Error, "the result so far could not be saved: "+export.Clean(err.Error()))
			return
		}
		r.Log(metrics.Info, "the result so far is in "+path)
	})
	return "saving the run so far", true
}

// write writes a result of the run as if it had ended so.
func (r *Run) write(path string, end metrics.End) error {
	result, err := report.Of(event.Followed(r.journal.Events(), end))
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	return files.Write(path, func(w io.Writer) error { return export.JSON(w, result) })
}
