package metronome

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Entry is the record of one answer. Its times are wall-clock times of the server process, its start plus the monotonic time since,
// so on the same machine they compare with the client's as long as the clock is not set.
type Entry struct {
	// ID is the request's X-Request-Id.
	ID string
	// Arrived is the time when the whole request had been read.
	Arrived time.Time
	// Writes are the times just before the write of each chunk with output. In a broken answer, the last write may have failed.
	Writes []time.Time
}

// FetchLog takes the log of a metronome at base, a URL such as http://127.0.0.1:8000, and clears it there. An answer is in
// it as soon as its last chunk can have arrived; one still under way is left for the next time. If the log had no room for
// some answers, the others are returned with an error.
func FetchLog(ctx context.Context, base string) ([]Entry, error) {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true} // no proxy: the server is local
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/log", nil)
	if err != nil {
		return nil, fmt.Errorf("log of the metronome: %w", err)
	}
	r, err := transport.RoundTrip(q)
	if err != nil {
		return nil, fmt.Errorf("log of the metronome at %s: %w", base, err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("log of the metronome at %s: status %s; is it a metronome?", base, r.Status)
	}
	entries, err := readLog(bufio.NewReaderSize(r.Body, 64<<10))
	if err != nil {
		return entries, fmt.Errorf("log of the metronome at %s: %w", base, err)
	}
	return entries, nil
}

// ClearLog drops the log of a metronome, whether it had room for all answers or not.
func ClearLog(ctx context.Context, base string) error {
	log, err := FetchLog(ctx, base)
	if log == nil {
		return err
	}
	return nil
}

// logMagic begins a log. It changes with the format.
const logMagic = "metronome log 2"

// logHead begins a log in transit, which is in the form of encoding/gob; the answers follow.
type logHead struct {
	Magic            string
	Answers, Missing int
}

func writeLog(w io.Writer, answers []answer, missing int) error {
	to := gob.NewEncoder(w)
	if err := to.Encode(logHead{logMagic, len(answers), missing}); err != nil {
		return err
	}
	for i := range answers {
		if err := to.Encode(answers[i]); err != nil {
			return err
		}
		answers[i] = answer{} // frees its memory
	}
	return nil
}

// readLog reads a whole log.
func readLog(r io.Reader) ([]Entry, error) {
	from := gob.NewDecoder(r)
	var head logHead
	if err := from.Decode(&head); err != nil || head.Magic != logMagic {
		return nil, errors.New("it cannot be read: it does not begin as a log does")
	}
	entries := []Entry{}
	for range head.Answers {
		var a answer
		if err := from.Decode(&a); err != nil {
			return nil, fmt.Errorf("it cannot be read: %w (answer %d of %d)", err, len(entries)+1, head.Answers)
		}
		e := Entry{ID: a.ID, Arrived: time.Unix(0, a.Arrived), Writes: make([]time.Time, len(a.Writes))}
		for i, at := range a.Writes {
			e.Writes[i] = time.Unix(0, at)
		}
		entries = append(entries, e)
	}
	if head.Missing > 0 {
		return entries, fmt.Errorf("%d answers are missing: it was full; take it more often", head.Missing)
	}
	return entries, nil
}

// answer is the log's record of an answer. Times are Unix nanoseconds of the server's clock.
type answer struct {
	ID      string
	Arrived int64
	Writes  []int64
}

// mostTimes limits the memory of a log that is never taken, to half a gigabyte.
const mostTimes = 64 << 20

// serverLog collects the answers since it was last taken.
type serverLog struct {
	mu      sync.Mutex
	answers []answer
	times   int // in all answers
	missing int // answers beyond the limit
}

func (l *serverLog) add(a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.times+len(a.Writes) > mostTimes {
		l.missing++
		return
	}
	l.times += len(a.Writes)
	l.answers = append(l.answers, a)
}

// take returns the answers and empties the log.
func (l *serverLog) take() (answers []answer, missing int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	answers, missing = l.answers, l.missing
	l.answers, l.times, l.missing = nil, 0, 0
	return answers, missing
}
