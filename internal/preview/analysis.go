package preview

import (
	"cmp"
	"math"
	"math/bits"
	"time"

	"benchtop/datasets"
)

// Unknown is a length that is not known.
const Unknown = -1

// Request is a request as an analysis sees it.
type Request struct {
	Input, Output int           // tokens; Output may be Unknown
	At            time.Duration // from the start, if Timed
	Timed         bool
	Prompts       []Prompt // to be compared with those of other requests; none where only their lengths are known
}

// Prompt is a prompt to be compared with others, by the first of token ids, blocks and text that it has.
type Prompt struct {
	Tokens      int
	IDs         []int
	Blocks      []uint64 // names of blocks of tokens, as a trace has them
	BlockTokens int      // to a block
	Text        string
}

// Analysis collects the figures of requests. It keeps how often each length came, some sums, and names of prefixes in
// bounded number; of requests it keeps nothing. One goroutine uses it.
type Analysis struct {
	About About

	sessions      sessions
	input, output lengths
	unanswered    int // requests whose output length is not known
	joint         joint
	prefixes      prefixes
	arrivals      arrivals
}

// About says where the requests of an analysis come from.
type About struct {
	Source  string   `json:"source"`                  // file or description of the data set
	Form    string   `json:"form,omitempty"`          // of a file
	Dataset []string `json:"dataset_flags,omitempty"` // flags that send such a file as it is
	Tokens  string   `json:"tokens"`                  // how they were counted
	Notes   []string `json:"notes,omitempty"`         // assumptions, and rows that were left out
}

// NewAnalysis begins without requests.
func NewAnalysis() *Analysis {
	return &Analysis{joint: joint{cells: map[[2]int]int{}}, prefixes: newPrefixes(mostNames)}
}

// Add takes the next request, in the order of their arrival.
func (a *Analysis) Add(r Request) {
	a.input.add(r.Input)
	if r.Output == Unknown {
		a.unanswered++
	} else {
		a.output.add(r.Output)
		a.joint.add(r.Input, r.Output)
	}
	for i := range r.Prompts {
		a.prefixes.add(&r.Prompts[i])
	}
	if r.Timed {
		a.arrivals.add(r.At)
	}
}

// AddConversation takes the requests of a conversation. Only the first has a time, if timed.
func (a *Analysis) AddConversation(c *datasets.Conversation, timed bool) error {
	if len(c.Turns) > 1 {
		a.sessions.turns.add(len(c.Turns))
	}
	for t, err := range c.Composed() {
		if err != nil {
			return err
		}
		r := Request{Input: t.InputTokens, Output: t.MaxTokens, At: c.At, Timed: timed, Prompts: appendPrompts(nil, &t)}
		timed = false
		if r.Output == 0 {
			r.Output = Unknown // the server decides
		}
		a.Add(r)
	}
	return nil
}

func appendPrompts(all []Prompt, t *datasets.Turn) []Prompt {
	if len(t.Batch) == 0 {
		p := Prompt{Tokens: t.InputTokens, IDs: t.TokenIDs, Text: t.Compared()}
		if p.Tokens == 0 { // as in a batch, whose sum is known
			p.Tokens = cmp.Or(len(p.IDs), (len(p.Text)+unitBytes-1)/unitBytes)
		}
		return append(all, p)
	}
	for i := range t.Batch {
		all = appendPrompts(all, &t.Batch[i])
	}
	return all
}

// joint counts requests by both lengths, in bins whose limits are powers of two.
type joint struct {
	cells         map[[2]int]int // by the number of bits of the input and output length
	n             float64
	meanX, meanY  float64
	xx, yy, cross float64 // sums of squares and products of deviations
}

func (j *joint) add(input, output int) {
	j.cells[[2]int{bits.Len(uint(input)), bits.Len(uint(output))}]++
	j.n++
	dx, dy := float64(input)-j.meanX, float64(output)-j.meanY
	j.meanX += dx / j.n
	j.meanY += dy / j.n
	j.xx += dx * (float64(input) - j.meanX)
	j.yy += dy * (float64(output) - j.meanY)
	j.cross += dx * (float64(output) - j.meanY)
}

// correlation is Pearson's, NaN where one of the lengths is always the same.
func (j *joint) correlation() float64 { return j.cross / math.Sqrt(j.xx*j.yy) }

// binFrom is the least length of that many bits.
func binFrom(bits int) int { return 1 << bits >> 1 }

// span is the range of bins that requests are in, by input and output.
func (j *joint) span() (lo, hi [2]int) {
	lo = [2]int{math.MaxInt, math.MaxInt}
	for cell := range j.cells {
		for i := range cell {
			lo[i], hi[i] = min(lo[i], cell[i]), max(hi[i], cell[i])
		}
	}
	return lo, hi
}

// arrivals are the times of requests. A request whose time is before that of the one ahead of it arrives with that one,
// as it would when the trace is sent.
type arrivals struct {
	n, back        int // back are those that went back
	first, last    time.Duration
	mean, squares  float64 // of the gaps, in seconds: their mean, and the sum of squared deviations from it
	second, minute peak
	series         series
}

// peak is the largest number of arrivals in a window of a width, of windows that follow the first arrival one after
// another.
type peak struct {
	window  time.Duration
	n, most int
}

func (p *peak) add(at, width time.Duration) {
	if window := at / width; window != p.window {
		p.window, p.n = window, 0
	}
	p.n++
	p.most = max(p.most, p.n)
}

func (a *arrivals) add(at time.Duration) {
	if a.n == 0 {
		a.first, a.last = at, at
		a.series.width = time.Millisecond
	} else {
		if at < a.last {
			at = a.last
			a.back++
		}
		gap := (at - a.last).Seconds()
		d := gap - a.mean
		a.mean += d / float64(a.n)
		a.squares += d * (gap - a.mean)
		a.last = at
	}
	a.n++
	since := at - a.first
	a.second.add(since, time.Second)
	a.minute.add(since, time.Minute)
	a.series.add(since)
}

// duration is from the first arrival to the last.
func (a *arrivals) duration() time.Duration { return a.last - a.first }

// rate is how many requests arrive in a second on average; infinite if all arrive at once.
func (a *arrivals) rate() float64 { return float64(a.n-1) / a.duration().Seconds() }

// cv is the standard deviation of the gaps between arrivals over their mean: 1 for a Poisson process, 0 for a constant
// rate. It is NaN for fewer than two gaps, or none longer than nothing.
func (a *arrivals) cv() float64 {
	if a.n < 3 {
		return math.NaN()
	}
	return math.Sqrt(a.squares/float64(a.n-1)) / a.mean
}

// burstiness is the shape of a gamma distribution with that variation, as --burstiness takes it.
func (a *arrivals) burstiness() float64 { return 1 / (a.cv() * a.cv()) }

// mostIntervals bounds a series.
const mostIntervals = 512

// series counts arrivals in intervals of one width, which doubles when there are too many.
type series struct {
	width time.Duration
	n     []int
}

func (s *series) add(at time.Duration) {
	for at/s.width >= mostIntervals {
		for i, n := range s.n {
			if i%2 == 0 {
				s.n[i/2] = n
			} else {
				s.n[i/2] += n
			}
		}
		s.n, s.width = s.n[:(len(s.n)+1)/2], 2*s.width
	}
	i := int(at / s.width)
	for len(s.n) <= i {
		s.n = append(s.n, 0)
	}
	s.n[i]++
}

// spread gives the arrivals in so many equal parts of the time until end.
func (s *series) spread(parts int, end time.Duration) []float64 {
	all := make([]float64, parts)
	part := float64(end) / float64(parts)
	for i, n := range s.n {
		from, to := float64(i)*float64(s.width), min(float64(i+1)*float64(s.width), float64(end))
		if to <= from { // the last arrival is at the end
			all[parts-1] += float64(n)
			continue
		}
		for p := min(int(from/part), parts-1); p < parts && float64(p)*part < to; p++ {
			overlap := min(to, float64(p+1)*part) - max(from, float64(p)*part)
			all[p] += float64(n) * max(0, overlap) / (to - from)
		}
	}
	return all
}
