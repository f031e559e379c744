package metronome

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Entry is what the server notes of one answer. The times are wall-clock times of the server process, its start plus
// monotonic time since, so on the same machine they compare with the client's as long as nobody sets the clock.
type Entry struct {
	// ID is the request's X-Request-Id.
	ID string
	// Arrived is when the request had been read whole.
	Arrived time.Time
	// Writes is the time just before each chunk with output was written. In an answer that broke, the last of them may
	// not have gone out.
	Writes []time.Time
}

// FetchLog takes the log of a metronome at base, a URL such as http://127.0.0.1:8000, and clears it there. An answer is in
// it as soon as its last chunk can have arrived; one still under way is left for the next time. If the log had no room for
// some answers, the error says so and the others are returned with it.
func FetchLog(ctx context.Context, base string) ([]Entry, error) {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true} // no proxy: it is a server of our own
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

var errLog = errors.New("it cannot be read")

// readLog reads a whole log. Memory grows with what is really there, whatever the numbers in it say.
func readLog(r *bufio.Reader) ([]Entry, error) {
	magic := make([]byte, len(logMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != logMagic {
		return nil, fmt.Errorf("%w: it does not begin as a log does", errLog)
	}
	missing, err := readNumber(r, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	n, err := readNumber(r, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, min(n, 1<<12))
	for range n {
		e, err := readEntry(r)
		if err != nil {
			return nil, fmt.Errorf("%w (answer %d of %d)", err, len(entries)+1, n)
		}
		entries = append(entries, e)
	}
	if _, err := r.ReadByte(); err != io.EOF {
		return nil, fmt.Errorf("%w: something follows it", errLog)
	}
	if missing > 0 {
		return entries, fmt.Errorf("%d answers are missing: it was full; take it more often", missing)
	}
	return entries, nil
}

func readEntry(r *bufio.Reader) (Entry, error) {
	var e Entry
	length, err := readNumber(r, logIDRoom)
	if err != nil {
		return e, err
	}
	id := make([]byte, length)
	if _, err := io.ReadFull(r, id); err != nil {
		return e, fmt.Errorf("%w: %w", errLog, err)
	}
	e.ID = string(id)
	at, err := readNumber(r, math.MaxInt64)
	if err != nil {
		return e, err
	}
	e.Arrived = time.Unix(0, at)
	n, err := readNumber(r, mostChunks)
	if err != nil {
		return e, err
	}
	e.Writes = make([]time.Time, 0, min(n, 1<<12))
	for range n {
		after, err := readNumber(r, math.MaxInt64-at)
		if err != nil {
			return e, err
		}
		at += after
		e.Writes = append(e.Writes, time.Unix(0, at))
	}
	return e, nil
}

func readNumber(r *bufio.Reader, most int64) (int64, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errLog, err)
	}
	if n > uint64(most) {
		return 0, fmt.Errorf("%w: a number is too large", errLog)
	}
	return int64(n), nil
}

// answer is what the log keeps of an answer. Times are Unix nanoseconds of the server's clock.
type answer struct {
	id      string
	arrived int64
	writes  []int64
}

// mostTimes bounds the memory of a log that nobody takes, to half a gigabyte.
const mostTimes = 64 << 20

// journal collects the answers since the last time somebody took them.
type journal struct {
	mu      sync.Mutex
	answers []answer
	times   int // in all answers
	missing int // answers for which there was no room
}

func (j *journal) add(a answer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.times+len(a.writes) > mostTimes {
		j.missing++
		return
	}
	j.times += len(a.writes)
	j.answers = append(j.answers, a)
}

// take hands out what there is and begins anew.
func (j *journal) take() (answers []answer, missing int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	answers, missing = j.answers, j.missing
	j.answers, j.times, j.missing = nil, 0, 0
	return answers, missing
}

// The log as it travels: a first line, then numbers as uvarints: answers missing, answers, and for each answer the length
// of its id, the id, the time of arrival, the number of writes, and each write's distance from the time before it.
const (
	logMagic  = "metronome log 1\n"
	logIDRoom = longestID
)

func appendLogHead(to []byte, answers, missing int) []byte {
	to = append(to, logMagic...)
	to = binary.AppendUvarint(to, uint64(missing))
	return binary.AppendUvarint(to, uint64(answers))
}

func (a *answer) appendTo(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(a.id)))
	to = append(to, a.id...)
	to = binary.AppendUvarint(to, uint64(a.arrived))
	to = binary.AppendUvarint(to, uint64(len(a.writes)))
	before := a.arrived
	for _, t := range a.writes {
		to = binary.AppendUvarint(to, uint64(t-before))
		before = t
	}
	return to
}
