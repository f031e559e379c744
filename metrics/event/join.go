package event

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// Piece is what one of several machines saw of a run: its events, and its plan.
type Piece struct {
	Source Source
	Plan   metrics.Plan
}

// NewPiece reads the plan of the events.
func NewPiece(source Source) (Piece, error) {
	for e, err := range source(Pick{Only: func(int) bool { return false }}) {
		if plan, ok := e.Value.(metrics.Plan); ok && err == nil {
			return Piece{source, plan}, nil
		}
		return Piece{}, err
	}
	return Piece{}, errors.New("there is no plan in it")
}

// ownFields are those of a plan in which the machines of a run may differ.
var ownFields = []string{"Command", "Spec", "Started", "BaseURL", "Proxy", "GPUs", "Part", "Version", "Definitions"}

// Apart says why two pieces are not of one run, "" if they are.
func (p *Piece) Apart(other *Piece) string {
	if p.Plan.Part.K == other.Plan.Part.K {
		return fmt.Sprintf("both are part %s", p.Plan.Part)
	}
	if p.Plan.Part.N != other.Plan.Part.N {
		return fmt.Sprintf("one is of %d parts, the other of %d", p.Plan.Part.N, other.Plan.Part.N)
	}
	a, b := reflect.ValueOf(p.Plan), reflect.ValueOf(other.Plan)
	for i, f := range reflect.VisibleFields(a.Type()) {
		if !slices.Contains(ownFields, f.Name) && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return "their plans differ in " + name
		}
	}
	return ""
}

// Join gives the events of a run that several machines loaded as those of one, in the order of their times. The pieces
// are parts of one run, at least one; missing ones are logged. The clocks of the machines count as right, and offset 0
// is the earliest start.
func Join(pieces []Piece) Source {
	pieces = slices.SortedFunc(slices.Values(pieces),
		func(a, b Piece) int { return cmp.Compare(a.Plan.Part.K, b.Plan.Part.K) })
	start := slices.MinFunc(pieces, func(a, b Piece) int { return a.Plan.Started.Compare(b.Plan.Started) }).Plan.Started
	return func(some Pick) Events {
		return func(yield func(Event, error) bool) {
			plan := pieces[0].Plan
			if !yield(Event{Kind: Fact, Value: whole(plan, start)}, nil) || !tell(yield, remarks(pieces, start)) {
				return
			}
			m, heads := NewMerge(plan.Part.K), make([]head, len(pieces))
			for i, p := range pieces {
				pull, stop := iter.Pull2(p.Source(some))
				defer stop()
				late := p.Plan.Started.Sub(start).Round(time.Microsecond)
				heads[i] = head{pull: pull, part: p.Plan.Part.K, shift: late}
				heads[i].advance() // the plan
				heads[i].advance()
			}
			for h := earliest(heads); h != nil; h = earliest(heads) {
				if (h.err != nil || m.Take(h.part, &h.event)) && !yield(h.event, h.err) {
					return
				}
				h.advance()
			}
			if end, ended := m.End(len(pieces)); ended {
				yield(Event{At: end.Ended, Kind: Fact, Value: end}, nil)
			}
		}
	}
}

// earliest is the piece whose next event comes first, nil where there are no more.
func earliest(heads []head) (first *head) {
	for i := range heads {
		if h := &heads[i]; h.more && (first == nil || h.at() < first.at()) {
			first = h
		}
	}
	return first
}

// whole is the plan of a run, given that of a part.
func whole(p metrics.Plan, start time.Time) metrics.Plan {
	p.Started, p.Part.K = start, 0
	p.Spec = slices.DeleteFunc(slices.Clone(p.Spec), func(s metrics.Setting) bool { return s.Flag == "part" })
	if len(p.Command) > 0 && len(p.Spec) > 0 {
		p.Command = append(p.Command[:1:1], metrics.Words(p.Spec)...)
	}
	return p
}

func tell(yield func(Event, error) bool, words []string) bool {
	for _, w := range words {
		if !yield(Event{Kind: Fact, Value: metrics.LogEntry{Level: metrics.Warn, Text: w}}, nil) {
			return false
		}
	}
	return true
}

// startsApart is the distance of the starts of parts from which on it is told.
const startsApart = time.Second

// remarks say what the pieces of a run lack.
func remarks(pieces []Piece, start time.Time) (all []string) {
	n, next := pieces[0].Plan.Part.N, 1
	var missing []string
	for _, p := range pieces {
		for ; next < p.Plan.Part.K; next++ {
			missing = append(missing, strconv.Itoa(next))
		}
		next++
		if late := p.Plan.Started.Sub(start); late > startsApart {
			all = append(all, fmt.Sprintf("part %d began %s after the first, by the clocks of their machines",
				p.Plan.Part.K, metrics.Duration(late.Round(time.Millisecond))))
		}
	}
	for ; next <= n; next++ {
		missing = append(missing, strconv.Itoa(next))
	}
	if len(missing) > 0 {
		all = append(all, fmt.Sprintf("part %s of %d is missing: its requests are in no figure, so the load that the "+
			"server had is not known", text.List(missing, 5), n))
	}
	return all
}

// head is the next event of a piece.
type head struct {
	pull  func() (Event, error, bool)
	part  int
	shift time.Duration // of its clock
	event Event
	err   error
	more  bool
}

// at is the time of the event; errors are the last of all.
func (h *head) at() time.Duration {
	if h.err != nil {
		return math.MaxInt64
	}
	return h.event.At
}

func (h *head) advance() {
	h.event, h.err, h.more = h.pull()
	if h.shift != 0 && h.more && h.err == nil {
		h.event.shift(h.shift)
	}
	if h.err != nil {
		h.err = fmt.Errorf("part %d: %w", h.part, h.err)
	}
}

// shift moves an event in time, with a copy of its request.
func (e *Event) shift(by time.Duration) {
	move := func(all ...*time.Duration) {
		for _, at := range all {
			if *at != metrics.Never {
				*at += by
			}
		}
	}
	move(&e.At)
	if e.Request != nil {
		moved := *e.Request
		q := &moved
		e.Request, q.Chunks = q, slices.Clone(q.Chunks)
		move(&q.Scheduled, &q.Due, &q.Admitted, &q.Sent, &q.Done)
		move(&q.LastTry, &q.FirstChunk, &q.FirstToken, &q.FirstAnswer, &q.FirstCall, &q.LastChunk)
		for i := range q.Chunks {
			move(&q.Chunks[i].At)
		}
	}
	switch x := e.Value.(type) {
	case metrics.LogEntry:
		move(&x.At)
		e.Value = x
	case metrics.Phase:
		move(&x.DrainBy)
		e.Value = x
	case metrics.ClientSecond:
		move(&x.At)
		e.Value = x
	case metrics.ServerSecond:
		move(&x.At)
		e.Value = x
	case metrics.GPUSecond:
		move(&x.At)
		e.Value = x
	case metrics.End:
		move(&x.Ended)
		e.Value = x
	}
}

// Merge makes the facts of one run of those of its parts. What concerns the run as a whole is told by one of them, the
// speaker: loads, phases, the server, the accelerators. Each part tells of its client and its requests. Its methods may
// be called from any goroutine.
type Merge struct {
	mu      sync.Mutex      // guards the following
	speaker int             // the part that tells of the run
	told    map[string]bool // lines of the log
	ends    []metrics.End
}

// NewMerge begins without events. The speaker is a part of the run.
func NewMerge(speaker int) *Merge { return &Merge{speaker: speaker, told: map[string]bool{}} }

// mostTold bounds the lines of the log that are remembered.
const mostTold = 10_000

// Take reports whether an event of a part is one of the run, and makes it that. Ends are kept for End.
func (m *Merge) Take(part int, e *Event) bool {
	if e.Kind != Fact {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	speaks := m.speaker == part
	switch x := e.Value.(type) {
	case metrics.LogEntry:
		if !speaks {
			if m.told[x.Text] || x.Set != nil || x.Objectives != nil || x.Search != nil {
				return false
			}
			x.Text = fmt.Sprintf("part %d: %s", part, x.Text)
			e.Value = x
		} else if len(m.told) < mostTold {
			m.told[x.Text] = true
		}
		return true
	case metrics.End:
		m.ends = append(m.ends, x)
		return false
	case metrics.ClientSecond, metrics.Worker, metrics.Recount, Damage:
		return true
	}
	return speaks
}

// End is the end of the run, if so many parts have told theirs.
func (m *Merge) End(parts int) (end metrics.End, ended bool) {
	if len(m.ends) < parts {
		return end, false
	}
	end = m.ends[0]
	for i := range m.ends[1:] {
		end = end.With(&m.ends[i+1])
	}
	return end, true
}
