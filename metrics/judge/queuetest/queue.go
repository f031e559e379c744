// Package queuetest simulates servers whose highest load within an objective is known, so that verdicts on them can be
// counted as true or false.
package queuetest

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// Discipline is how a server divides itself among its requests.
type Discipline string

const (
	// FIFO serves requests in their order, Servers at a time.
	FIFO Discipline = "fifo"
	// Sharing serves all requests at once: up to Servers at full speed, more of them share it.
	Sharing Discipline = "sharing"
	// Batches serves up to Servers requests together, and then the next batch.
	Batches Discipline = "batches"
	// Limiter refuses what comes faster than Limit a second, beyond a burst of Servers.
	Limiter Discipline = "limiter"
)

// Server is a simulated server. Times are in seconds.
type Server struct {
	Discipline Discipline
	Servers    int
	Limit      float64
	// Service is the mean time of a request without a queue, at least First, which is the time to its first token.
	// Spread is the distribution of Service: its coefficient of variation, 0 for none and 1 for exponential times;
	// between them Erlang's, above 1 log-normal.
	Service, First, Spread float64
	// SlowFor seconds from the start services take Slow times as long: a warm-up.
	Slow, SlowFor float64
	// Drift is added to 1 as a factor of services over DriftFor seconds.
	Drift, DriftFor float64
	// Every PauseEvery seconds the server stands still for Pause.
	Pause, PauseEvery float64
	// Tail is the part of requests whose first token takes TailBy longer, whatever the load.
	Tail, TailBy float64
	// Tokens of an answer, 4 if 0, spread evenly between the first and the last.
	Tokens int
	// Jitter is a factor of a service that begins at t, of this server alone where others have the same draws; nil for
	// none.
	Jitter func(t float64) float64
}

// Times of a request, in seconds from its arrival; First is negative for one that was refused.
type Times struct{ First, End float64 }

// service draws the time of a request that begins at t.
func (s *Server) service(t float64, r *rand.Rand) float64 {
	x := s.Service
	switch {
	case s.Spread == 0:
	case s.Spread == 1:
		x *= r.ExpFloat64()
	case s.Spread < 1:
		phases := math.Round(1 / (s.Spread * s.Spread))
		sum := 0.0
		for range int(phases) {
			sum += r.ExpFloat64()
		}
		x *= sum / phases
	default:
		sd := math.Sqrt(math.Log(1 + s.Spread*s.Spread))
		x *= math.Exp(sd*r.NormFloat64() - sd*sd/2)
	}
	if s.Jitter != nil {
		x *= s.Jitter(t)
	}
	x = max(x, s.First)
	if t < s.SlowFor {
		x *= s.Slow
	}
	if s.Drift > 0 {
		x *= 1 + s.Drift*min(1, t/s.DriftFor)
	}
	if s.PauseEvery > 0 {
		if in := math.Mod(t, s.PauseEvery); in < s.Pause {
			x += s.Pause - in
		}
	}
	return x
}

// Serve answers requests that arrive at rising times.
func (s *Server) Serve(arrivals []float64, r *rand.Rand) []Times {
	out := make([]Times, len(arrivals))
	switch s.Discipline {
	case FIFO:
		s.fifo(arrivals, out, r)
	case Sharing:
		s.share(arrivals, out, r)
	case Batches:
		s.batches(arrivals, out, r)
	case Limiter:
		tokens, last := float64(s.Servers), 0.0
		for i, t := range arrivals {
			tokens, last = min(float64(s.Servers), tokens+(t-last)*s.Limit), t
			if out[i] = (Times{-1, 0.002}); tokens >= 1 {
				tokens--
				out[i] = Times{s.First, s.service(t, r)}
			}
		}
	}
	return out
}

func (s *Server) fifo(arrivals []float64, out []Times, r *rand.Rand) {
	free := make([]float64, s.Servers)
	for i, t := range arrivals {
		next := slices.Index(free, slices.Min(free))
		begin := max(t, free[next])
		x := s.service(begin, r)
		free[next] = begin + x
		late := 0.0
		if s.Tail > 0 && r.Float64() < s.Tail {
			late = s.TailBy
		}
		first := begin - t + s.First + late
		out[i] = Times{first, max(begin-t+x, first)}
	}
}

func (s *Server) batches(arrivals []float64, out []Times, r *rand.Rand) {
	for i, now := 0, 0.0; i < len(arrivals); {
		now = max(now, arrivals[i])
		x, j := s.service(now, r), i
		for ; j < len(arrivals) && j-i < s.Servers && arrivals[j] <= now; j++ {
			out[j] = Times{now - arrivals[j] + s.First, now - arrivals[j] + x}
		}
		now, i = now+x, j
	}
}

// stage is the work at which a request of a shared server reaches its first or its last token.
type stage struct {
	work  float64
	index int
	last  bool
}

// share gives all requests the same speed, so that they reach stages in the order of the work at which these are.
func (s *Server) share(arrivals []float64, out []Times, r *rand.Rand) {
	stages := &stages{}
	now, work, n := 0.0, 0.0, 0
	for i := 0; i < len(arrivals) || stages.Len() > 0; {
		speed := 1.0
		if n > s.Servers {
			speed = float64(s.Servers) / float64(n)
		}
		next := math.Inf(1)
		if stages.Len() > 0 {
			next = now + ((*stages)[0].work-work)/speed
		}
		if i < len(arrivals) && arrivals[i] <= next {
			t := arrivals[i]
			if n > 0 {
				work += (t - now) * speed
			}
			now = t
			x := s.service(t, r)
			heap.Push(stages, stage{work + s.First, i, false})
			heap.Push(stages, stage{work + x, i, true})
			n++
			i++
			continue
		}
		e := heap.Pop(stages).(stage)
		now, work = next, e.work
		if e.last {
			out[e.index].End = now - arrivals[e.index]
			n--
		} else {
			out[e.index].First = now - arrivals[e.index]
		}
	}
	for i := range out {
		out[i].First = min(out[i].First, out[i].End)
	}
}

type stages []stage

func (t stages) Len() int { return len(t) }
func (t stages) Less(i, j int) bool {
	if t[i].work != t[j].work {
		return t[i].work < t[j].work
	}
	return !t[i].last && t[j].last
}
func (t stages) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *stages) Push(v any)   { *t = append(*t, v.(stage)) }
func (t *stages) Pop() any {
	v := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return v
}

// Steady is the server without what passes: its warm-up and its drift.
func (s Server) Steady() Server {
	s.SlowFor, s.Drift = 0, 0
	return s
}

// Good reports whether a request met limits on TTFT and, if above 0, on TPOT, in seconds.
func (s *Server) Good(t Times, ttft, tpot float64) bool {
	return t.First >= 0 && t.First <= ttft && (tpot <= 0 || (t.End-t.First)/float64(s.tokens()-1) <= tpot)
}

func (s *Server) tokens() int { return cmp.Or(s.Tokens, 4) }

// Share is the part of n requests at a constant rate that is good, of the steady server.
func (s Server) Share(rate, ttft, tpot float64, n int, seed uint64) float64 {
	s = s.Steady()
	r := rand.New(rand.NewPCG(seed, 1))
	arrivals := Constant(rate, float64(n)/rate, r)
	all := s.Serve(arrivals, r)
	all = all[len(all)/20:]
	good := 0
	for _, t := range all {
		if s.Good(t, ttft, tpot) {
			good++
		}
	}
	return float64(good) / float64(len(all))
}

// Border is the highest constant rate at which the share of good requests is at least q in a long run.
func (s Server) Border(ttft, tpot, q float64) float64 {
	const n, seeds = 40_000, 2
	sum := 0.0
	for seed := range uint64(seeds) {
		low, high := 0.5, 80.0
		for range 10 {
			if m := (low + high) / 2; s.Share(m, ttft, tpot, n, seed+1) >= q {
				low = m
			} else {
				high = m
			}
		}
		sum += (low + high) / 2
	}
	return sum / seeds
}

// Capacity is the rate beyond which the steady server does not keep up.
func (s Server) Capacity() float64 {
	if s = s.Steady(); s.Discipline == Limiter {
		return s.Limit
	}
	s.PauseEvery = 0
	r := rand.New(rand.NewPCG(5, 5))
	sum := 0.0
	const n = 100_000
	for range n {
		sum += s.service(0, r)
	}
	return float64(max(1, s.Servers)) * n / sum
}

// Constant are Poisson arrivals at a rate for so many seconds.
func Constant(rate, length float64, r *rand.Rand) (all []float64) {
	for t := r.ExpFloat64() / rate; t < length; t += r.ExpFloat64() / rate {
		all = append(all, t)
	}
	return all
}

// Ramp are Poisson arrivals whose rate rises in a straight line.
func Ramp(from, to, length float64, r *rand.Rand) []float64 {
	top := max(from, to)
	return slices.DeleteFunc(Constant(top, length, r),
		func(t float64) bool { return r.Float64()*top > from+(to-from)*t/length })
}
