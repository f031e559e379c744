package cli

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

// Save writes a result of the run so far beside the place of the result to come. The work is done beside the run; the log
// tells how it went.
func (s *session) Save() string {
	switch {
	case s.files == nil:
		return "this run is not saved (--no-save)"
	case s.measured():
		return "the run is over: its result is saved"
	case !s.savingNow.TryLock():
		return "still saving"
	}
	path := strings.TrimSuffix(s.files.Path, ".json") + files.SoFar + ".json"
	s.asides.Go(func() {
		defer s.savingNow.Unlock()
		if err := s.saveSoFar(path); err != nil {
			s.log(metrics.Error, "the result so far could not be saved: "+export.Clean(err.Error()))
			return
		}
		s.log(metrics.Info, "the result so far is in "+path)
	})
	return "saving the run so far"
}

func (s *session) saveSoFar(path string) error {
	end := s.soFar()
	end.Ended, end.Reason = time.Since(s.load.Start).Round(time.Microsecond), "saved while it was on"
	r, err := report.Of(event.Followed(s.journal.Events(), end))
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	return files.Write(path, func(w io.Writer) error { return export.JSON(w, r) })
}
