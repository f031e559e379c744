package session

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"benchtop/export"
	"benchtop/export/charts"
	"benchtop/export/page"
	"benchtop/internal/files"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// PytorchVariable asks for the result in a second form, as vLLM has it.
const PytorchVariable = "SAVE_TO_PYTORCH_BENCHMARK_FORMAT"

// picturesBeside writes the pictures beside the result, whose path is "" if it was not saved. A failure is a warning,
// since the result is safe.
func (p *Run) picturesBeside(r metrics.Report, events event.Events, result string) (written, warnings []string) {
	switch {
	case filepath.Base(result) != "." && result != files.Stdout: // the result's own place
	case p.Files != nil:
		result = p.Files.Path
	default:
		result = p.Save.Place(p.Plan)
	}
	stem := files.Stem(result)
	own := stem // of this run alone, where the result is one of many in a file
	if p.Save.Append && p.Files != nil && result == p.Files.Path {
		own = files.Stem(p.Files.JournalName)
	}
	put := func(path string, content func(io.Writer) error) {
		if err := files.Write(path, content); err != nil {
			warnings = append(warnings, fmt.Sprintf("%s was not written: %s", path, err))
			return
		}
		written = append(written, path)
	}
	o := &p.Plots
	if o.Timeline {
		put(own+files.TimelineSuffix, func(w io.Writer) error {
			segments, err := charts.Timeline(w, recounted(events), r.Plan, r.Events, o.Thresholds)
			if err == nil && segments == 0 {
				err = errors.New("no request was sent, so there is nothing to plot")
			}
			return err
		})
	}
	if o.Page {
		put(own+files.PageSuffix, func(w io.Writer) error { return page.Write(w, OnPage(filepath.Base(own), &r)) })
	}
	if o.DatasetStats {
		put(own+files.DatasetStatsSuffix, func(w io.Writer) error { return charts.DatasetStats(w, recounted(events)) })
	}
	for _, format := range o.Formats {
		put(own+export.Ending(format), func(w io.Writer) error { return export.Write(w, r, format) })
	}
	if os.Getenv(PytorchVariable) != "" && p.Save.Asked() {
		put(stem+files.PyTorchSuffix, func(w io.Writer) error {
			if o.Pytorch != nil {
				return o.Pytorch(w, r, filepath.Base(result))
			}
			return export.PyTorch(w, r, o.Arguments())
		})
	}
	return written, warnings
}

// OnPage is a run on the page of its report.
func OnPage(name string, r *metrics.Report) page.Run {
	again := strings.TrimPrefix(strings.TrimSpace(Again("Repeat", r.Plan.Command, r.Plan.Spec)), "Repeat with: ")
	return page.Run{Name: name, Report: r, Repeat: again}
}

// recounted are the requests of a run with token counts that were added later.
func recounted(events event.Events) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		_, all, err := report.Gather(events)
		if err != nil {
			yield(metrics.Request{}, err)
			return
		}
		all(yield)
	}
}
