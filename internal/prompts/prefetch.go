package prompts

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"benchtop/datasets"
)

// Prefetcher draws prompts ahead of need, so that no request waits for one: all of them before the run if they end and
// fit into memory, else some. During the run it only replaces those that were taken, since drawing competes with
// measuring for processors.
type Prefetcher struct {
	flow    datasets.Flow
	sharing *datasets.Sharing
	drawing sync.WaitGroup

	mu    sync.Mutex // guards everything below but again
	moved *sync.Cond // the queue grew or shrank, or drawing ended
	queue []packed
	bytes int   // about how much memory the queue takes
	most  int   // bytes above which nothing more is drawn
	ended error // io.EOF or why there are no more, nil while they are drawn

	again atomic.Bool // what was drawn is sent anew
}

// prefetchBytes limits the prompts drawn before a run, moreBytes those that a later flow draws ahead.
const (
	prefetchBytes = 256 << 20
	moreBytes     = 16 << 20
)

// wake makes all waiting goroutines check again. It takes the lock, since a call between a check and the wait would be
// lost.
func (s *Prefetcher) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved.Broadcast()
}

func (s *Prefetcher) draw(ctx context.Context) {
	defer context.AfterFunc(ctx, s.wake)()
	for err := error(nil); err == nil; {
		var c datasets.Conversation
		if err = ctx.Err(); err == nil {
			c, err = s.flow.Next()
		}
		s.mu.Lock()
		if err == nil {
			c.Turns = slices.Clone(c.Turns) // they get what they share
			s.sharing.Add(c)
			s.queue = append(s.queue, pack(c))
			s.bytes += s.queue[len(s.queue)-1].weight()
			s.moved.Broadcast() // before the wait: there is one more to take, and perhaps enough
		}
		for err == nil && s.bytes >= s.most && ctx.Err() == nil {
			s.moved.Wait()
		}
		err = cmp.Or(err, ctx.Err())
		s.ended = err
		s.moved.Broadcast()
		s.mu.Unlock()
	}
}

func turnsWeight(turns []datasets.Turn) (n int) {
	for i := range turns {
		t := &turns[i]
		n += int(unsafe.Sizeof(*t)) + 8*len(t.After) + 32*len(t.Headers) // also of prompts that are made later
		n += len(t.Text) + 8*len(t.TokenIDs) + len(t.Media) + len(t.Messages) + len(t.Overrides) + turnsWeight(t.Batch)
	}
	return n
}

// Fill waits until all is drawn, the memory is full, or enough are drawn in a time; nil is never. The prefetcher then
// keeps as many prompts ahead as it has now. It returns an error if drawing fails. progress is called now and then with
// the number of prompts.
func (s *Prefetcher) Fill(ctx context.Context, enough func(drawn int, in time.Duration) bool, every time.Duration,
	progress func(drawn int)) error {
	defer context.AfterFunc(ctx, s.wake)()
	began, told := time.Now(), time.Now()
	tick := time.AfterFunc(every, s.wake)
	defer tick.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.ended == nil && s.bytes < s.most && ctx.Err() == nil {
		if n := len(s.queue); n > 0 && enough != nil && enough(n, time.Since(began)) {
			s.most = max(s.bytes, moreBytes)
			return nil
		}
		if time.Since(told) >= every {
			told = time.Now()
			tick.Reset(every)
			progress(len(s.queue))
		}
		s.moved.Wait()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.ended != io.EOF {
		return s.ended
	}
	return nil
}

// Next returns the next conversation. It waits only if the load is faster than the drawing.
func (s *Prefetcher) Next() (datasets.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && s.ended == nil {
		s.moved.Wait()
	}
	if len(s.queue) == 0 {
		return datasets.Conversation{}, s.ended
	}
	first := s.queue[0]
	s.queue[0] = packed{} // the memory is the caller's
	s.queue = s.queue[1:]
	s.bytes -= first.weight()
	s.moved.Broadcast()
	return first.conversation(), nil
}

// drawn is the number of conversations that are drawn and not taken, and whether the last one is drawn.
func (s *Prefetcher) drawn() (n int, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue), s.ended == io.EOF
}

// queued ranges over the conversations that are drawn and not taken; they are not to be changed. It yields without the
// lock, for more may be drawn meanwhile. A nil *Prefetcher has none.
func (s *Prefetcher) queued(yield func(datasets.Conversation) bool) {
	for i := 0; s != nil; i++ {
		s.mu.Lock()
		if i >= len(s.queue) {
			s.mu.Unlock()
			return
		}
		p := s.queue[i]
		s.mu.Unlock()
		if !yield(p.conversation()) {
			return
		}
	}
}

// change replaces the conversations, when all are drawn and none was taken, and recomputes the share.
func (s *Prefetcher) change(all []datasets.Conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sharing.Reset()
	for k, c := range all {
		for i := range c.Turns {
			c.Turns[i].IdealKnown = false
		}
		s.sharing.Add(c)
		s.queue[k] = pack(c)
	}
}

// Prefetchers are all prefetchers of one run.
type Prefetchers struct {
	ctx    context.Context // of the drawing
	cancel context.CancelFunc

	sharing *datasets.Sharing // of all prompts

	mu  sync.Mutex // guards all; held while the drawing is waited for
	all []*Prefetcher
}

// NewPrefetchers starts without a prefetcher.
func NewPrefetchers() *Prefetchers {
	s := &Prefetchers{sharing: datasets.NewSharing()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Share is the part of the input tokens drawn so far, from 0 to 1, that a perfect prefix cache would know from this run
// if the server put template tokens before each prompt; 1 without a prefetcher, since it is unknown then. A nil
// *Prefetchers has none.
func (s *Prefetchers) Share(template float64) float64 {
	if s == nil {
		return 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return 1
	}
	for _, x := range s.all {
		if x.again.Load() {
			return 1
		}
	}
	return s.sharing.ShareBehind(template)
}

// Begin draws from a flow until so many bytes are ahead; after Close it draws nothing.
func (s *Prefetchers) Begin(flow datasets.Flow, most int) *Prefetcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := &Prefetcher{flow: flow, sharing: s.sharing, most: most}
	one.moved = sync.NewCond(&one.mu)
	one.drawing.Go(func() { one.draw(s.ctx) })
	s.all = append(s.all, one)
	return one
}

// Close ends the drawing, waits for it, and closes the flows. A nil *Prefetchers has none.
func (s *Prefetchers) Close() {
	if s == nil {
		return
	}
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.all {
		x.drawing.Wait()
		x.flow.End()
	}
}

// composed is a conversation whose first prompt is made. One that learns can still do so.
func composed(c datasets.Conversation) (datasets.Conversation, error) {
	p := c.Turns[0].Prompt
	if p.Compose == nil {
		return c, nil
	}
	c.Turns = slices.Clone(c.Turns)
	if p.Learn == nil {
		c.Turns[0].Prompt = datasets.Prompt{}
	}
	return c, p.Compose(&c.Turns[0], nil)
}

// rounds are the prompts of a prefetcher, again and again, with ids that say so.
type rounds struct {
	rest       *Prefetcher // nil when all was seen once
	seen       []packed
	at, number int // in seen, and of the round
}

// first returns the next conversation of the first round.
func (r *rounds) first() (datasets.Conversation, error) {
	if r.rest == nil {
		return datasets.Conversation{}, io.EOF
	}
	c, err := r.rest.Next()
	if err == nil {
		r.seen = append(r.seen, pack(c))
	}
	return c, err
}

// next returns the next conversation.
func (r *rounds) next() (datasets.Conversation, error) {
	if r.rest != nil {
		c, err := r.first()
		if err != io.EOF || len(r.seen) == 0 {
			return c, err
		}
		r.rest.again.Store(true)
		r.rest, r.number = nil, 2
	}
	if r.at == len(r.seen) {
		r.at, r.number = 0, r.number+1
	}
	c := r.seen[r.at].conversation()
	r.at++
	c.Turns = slices.Clone(c.Turns)
	for i := range c.Turns {
		if t := &c.Turns[i]; t.IdealKnown { // the server has seen all of it, and computes a token
			t.IdealTokens = max(t.IdealTokens, datasets.WholeBlocks(t.InputTokens-1))
		}
	}
	if c.ID != "" {
		c.ID = fmt.Sprintf("%s-%d", c.ID, r.number)
	}
	if c.Session != "" {
		c.Session = fmt.Sprintf("%s~%d", c.Session, r.number)
	}
	return c, nil
}
