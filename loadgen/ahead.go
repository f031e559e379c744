package loadgen

import (
	"context"
	"fmt"
	"io"
	"runtime"
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
	// aheadTime is how long before its time the body of a later turn is made.
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
// where a late dispatcher waits for it, since bodies are then made side by side by those that send them.
type arrivals struct {
	ready   chan arrival // closed behind the last one
	err     error        // why there are no more, once ready is closed; nil at the end of the schedule
	awaited atomic.Bool  // the next one, by a late dispatcher
	stop    context.CancelFunc
}

// arrivals begins to prepare a schedule, first with the jobs that the schedule before it left.
func (d *dispatcher) arrivals(schedule shape.Schedule) *arrivals {
	most := aheadMost
	if d.options.ClosedLoop {
		most = 0
	}
	a := &arrivals{ready: make(chan arrival, most)}
	ctx, stop := context.WithCancel(d.stopping)
	a.stop = stop
	d.preparing.Go(func() {
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
	for at := range schedule {
		j, err := d.take()
		if err != nil {
			return err
		}
		others := !d.options.Part.Has(j.number)
		if others && d.options.ClosedLoop {
			continue // arrivals have places among those of the other parts, users have not
		}
		if len(a.ready) > aheadMost/4 { // what is due goes before what is not, and so do sockets
			time.Sleep(time.Millisecond)
		} else if len(a.ready) > 0 {
			runtime.Gosched()
		}
		if !a.awaited.Swap(false) && j.ahead == nil && !others {
			j.prepare()
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

// next is the next arrival; false when there are no more, or the sending has ended. late says that the one before it
// was.
func (a *arrivals) next(ctx context.Context, late bool) (next arrival, ok bool) {
	a.awaited.Store(late && len(a.ready) == 0)
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
