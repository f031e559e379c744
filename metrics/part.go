package metrics

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Part is the share of a run that one of several machines loads: part K of N, from 1. Each of them draws the whole
// workload and schedule from the same seed and sends its own conversations alone, so that together they send what one
// machine would. The zero value is a run of one machine; K is 0 where the parts of a run are together again.
type Part struct {
	K int `json:"k"`
	N int `json:"n"`
}

// Worker is the machine of a part of a run.
type Worker struct {
	Part int
	// Host is the name of the machine.
	Host string
	// Offset is how far its clock was ahead of that of the machine that began the run, wrong by at most Bound; Bound is
	// Never where nobody measured it.
	Offset, Bound time.Duration
}

// mostParts bounds the parts of a run.
const mostParts = 10_000

var errPart = errors.New("expected K/N, such as 2/4 for the second of four")

// ParsePart reads K/N.
func ParsePart(s string) (p Part, err error) {
	k, n, found := strings.Cut(s, "/")
	if p.N, err = strconv.Atoi(n); !found || err != nil {
		return Part{}, errPart
	}
	if p.K, err = strconv.Atoi(k); err != nil {
		return Part{}, errPart
	}
	switch {
	case p.N < 1 || p.N > mostParts:
		return Part{}, fmt.Errorf("a run has 1 to %d parts", mostParts)
	case p.K < 1 || p.K > p.N:
		return Part{}, fmt.Errorf("the parts of %d are 1 to %d", p.N, p.N)
	}
	return p, nil
}

// String is K/N, "" where the run is whole.
func (p Part) String() string {
	if !p.Split() {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.K, p.N)
}

// Split reports whether other machines send the rest.
func (p Part) Split() bool { return p.K > 0 && p.N > 1 }

// First reports whether this machine does what is done once in a run.
func (p Part) First() bool { return p.K <= 1 }

// Has reports whether this machine sends a conversation, by its number in the run.
func (p Part) Has(conversation int) bool { return !p.Split() || conversation%p.N == p.K-1 }

// Of is the share of n equal things, such as users: those of all parts add up to n.
func (p Part) Of(n int) int {
	if !p.Split() {
		return n
	}
	share := n / p.N
	if p.K <= n%p.N {
		share++
	}
	return share
}
