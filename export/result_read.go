package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"benchtop/export/journal"
	"benchtop/metrics"
)

// ReadResult reads a result as vLLM or benchtop writes it and returns what it says: counts, throughputs and the statistics
// of latencies that are there. A statistic that is there has N successes, because the file does not say how many samples
// it had; one that is not has N 0. Of several results in a file, which --append-result makes, it reads the last. What only
// a journal knows, such as the timeline, is not in the report.
func ReadResult(path string) (metrics.Report, error) {
	f, err := journal.Open(path)
	if err != nil {
		return metrics.Report{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > longestResult {
		return metrics.Report{}, fmt.Errorf("%s: %w", path, errResultTooLong)
	}
	r, err := readResult(f)
	if err != nil {
		return metrics.Report{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func readResult(in io.Reader) (metrics.Report, error) {
	s := resultScanner{r: bufio.NewReaderSize(in, 1<<16), left: longestResult}
	var last *resultReader
	for {
		one := resultReader{latencies: map[metrics.Latency]*metrics.Statistic{}}
		one.r.Plan.Rate = metrics.Rate(math.Inf(1)) // where it does not say
		switch err := s.object(one.scalar); {
		case err == io.EOF && last == nil:
			return metrics.Report{}, errors.New("expected a result, found nothing")
		case err == io.EOF:
			return last.report()
		case one.journal:
			return metrics.Report{}, errors.New("this is a journal, not a result")
		case err != nil && last == nil:
			return metrics.Report{}, fmt.Errorf("not a result of a benchmark: %w", err)
		case err != nil:
			return metrics.Report{}, err
		}
		last = &one
	}
}
