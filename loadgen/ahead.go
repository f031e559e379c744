package loadgen

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	"benchtop/datasets"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

const (
	// aheadMost is how many conversations are ready before they are due; in a closed loop, which has no times, one is.
	aheadMost = 64
	// aheadBytes is how much memory bodies may take that are made and not sent. Then none is made ahead.
	aheadBytes = 16 << 20
	// burstTime is the time in which arrivals come about together, so that they need a connection each.
	burstTime = 20 * time.Millisecond
	// aheadTime is how long before its time the body of a later turn is made, and how long before connections may be
	// opened for a burst: those in use may be free later.
	aheadTime = time.Second
)

// ahead is what is made of a turn before it is due, so that it only has to be sent then.
type ahead struct {
	turn   datasets.Turn // with its prompt
	prompt string        // the beginning of it
	body   *[]byte
}

// prepare makes prompt and body of a job, unless they depend on answers. What fails is left to the sending, which
// reports it.
func (j *job) prepare() {
	e, t := j.engine, j.Turns[j.turn]
	if e.ahead.Load() >= aheadBytes || t.Prompt.Learn != nil || j.Replies && j.turn > 0 {
		return
	}
	defer func() { _ = recover() }()
	if t.Prompt.Compose != nil && t.Prompt.Compose(&t, nil) != nil {
		return
	}
	body := e.buffer()
	var err error
	if *body, err = e.encoder.body(*body, j.model, j.RequestID(j.turn), &t); err == nil {
		e.ahead.Add(int64(len(*body)))
		j.ahead = &ahead{turn: t, prompt: t.Excerpt(metrics.MostPrompt), body: body}
	}
}

// arrival is the first job of a conversation, and the time of the schedule at which it is due.
type arrival struct {
	*job
	at time.Duration
}

// arrivals are the coming ones of a schedule. A goroutine takes the prompts and makes the bodies ahead; it does not
// where the dispatcher waits for it, since bodies are then made side by side by those that send them.
type arrivals struct {
	ready   chan arrival // closed behind the last one
	err     error        // why there are no more, once ready is closed; nil at the end of the schedule
	awaited atomic.Bool  // the next one, by the dispatcher
	bursts  chan int     // the connections for those that come together
	stop    context.CancelFunc
}

// arrivals begins to prepare a schedule, first with the jobs that the schedule before it left.
func (d *dispatcher) arrivals(schedule shape.Schedule) *arrivals {
	most := aheadMost
	if d.options.ClosedLoop {
		most = 0
	}
	a := &arrivals{ready: make(chan arrival, most), bursts: make(chan int, 1)}
	ctx, stop := context.WithCancel(d.stopping)
	a.stop = stop
	d.preparing.Go(func() {
		for n := range a.bursts {
			_ = d.pools.Spare(ctx, n) // requests open missing ones
		}
	})
	d.preparing.Go(func() {
		defer close(a.bursts)
		defer close(a.ready)
		defer func() {
			if bug := recover(); bug != nil {
				a.err = fmt.Errorf("the prompts broke: %v\n%s", bug, debug.Stack())
			}
		}()
		a.err = d.feed(ctx, a, schedule)
	})
	return a
}

// feed prepares one arrival after the other until ctx ends.
func (d *dispatcher) feed(ctx context.Context, a *arrivals, schedule shape.Schedule) error {
	together, since := 0, time.Duration(0) // the burst
	for at := range schedule {
		j, err := d.take()
		if err != nil {
			return err
		}
		if len(a.ready) > aheadMost/4 {
			time.Sleep(time.Millisecond) // what is due goes before what is not, also in the scheduler of Go
		}
		if !a.awaited.Swap(false) && j.ahead == nil {
			j.prepare()
		}
		if at-since > burstTime {
			together, since = 0, at
		}
		together++
		if lead := at - d.clock.Now(); d.planned && 0 < lead && lead < aheadTime && together > 1 {
			a.burst(min(together, aheadMost))
		}
		select {
		case a.ready <- arrival{j, at}:
		case <-ctx.Done():
			d.left = append([]*job{j}, d.left...)
			return nil
		}
	}
	return nil
}

// burst has connections opened for so many arrivals at once. Only feed calls it.
func (a *arrivals) burst(n int) {
	select {
	case before := <-a.bursts:
		n = max(n, before)
	default:
	}
	a.bursts <- n
}

// next is the next arrival; false when there are no more, or the sending has ended.
func (a *arrivals) next(ctx context.Context) (next arrival, ok bool) {
	a.awaited.Store(len(a.ready) == 0)
	select {
	case next, ok = <-a.ready:
	case <-ctx.Done():
	}
	return next, ok
}

// take is the first job of the next conversation. The error is io.EOF where there are no more.
func (d *dispatcher) take() (*job, error) {
	if len(d.left) > 0 {
		j := d.left[0]
		d.left = d.left[1:]
		return j, nil
	}
	c, err := d.prompts.Next()
	if err == io.EOF && d.mayGoOn() {
		if d.prompts, err = d.prompts.More(); err == nil {
			c, err = d.prompts.Next()
		}
	}
	if err != nil {
		return nil, err
	}
	j := &job{conversation: d.newConversation(c, d.number, d.index)}
	d.index, d.number = d.index+len(c.Turns), d.number+1
	return j, nil
}
