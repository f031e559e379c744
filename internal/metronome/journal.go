package metronome

import (
	"encoding/binary"
	"sync"
)

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
