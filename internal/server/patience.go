package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Patience limits the wait for a server that is still starting, and tells how much of it is left. A nil Patience is
// none.
type Patience struct {
	Limit time.Duration
	to    Reporter
	until time.Time

	mu    sync.Mutex // guards everything below, and the calls of to
	last  error      // of the attempts, nil before the first has failed
	told  time.Time  // when the last line was told
	kinds []string   // of errors that were told
}

// Reporter receives the progress of the wait: news by Tell, the current state by Show.
type Reporter interface {
	Tell(string)
	Show(string)
}

// Patience starts the wait.
func (o *Options) Patience(to Reporter) *Patience {
	p := &Patience{Limit: time.Duration(o.Ready) * time.Second, to: to}
	p.Restart()
	return p
}

// Restart starts the wait anew.
func (p *Patience) Restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until, p.told, p.last = time.Now().Add(p.Limit), time.Now(), nil
}

const (
	// leastTry is the shortest time for an attempt; a shorter one would only time out.
	leastTry = 100 * time.Millisecond
	// mostPause is between two attempts, unless little time is left.
	mostPause = time.Second
)

// Until repeats an attempt until it succeeds, its failure is final, or the patience ends; without patience there is one
// attempt. The error is that of the last attempt which the end of the patience did not cut.
func (p *Patience) Until(ctx context.Context, server string,
	attempt func(context.Context) (final bool, err error)) error {
	if p == nil || p.Limit == 0 {
		_, err := attempt(ctx)
		return err
	}
	p.begin()
	limited, cancel := context.WithDeadline(ctx, p.until)
	defer cancel()
	defer p.countDown(server)()
	for {
		final, err := attempt(limited)
		if err == nil || final || ctx.Err() != nil {
			return err
		}
		left := time.Until(p.until)
		if left > 0 { // a dial may time out a moment before the context does
			p.failed(server, err)
		}
		if left < leastTry {
			return cmp.Or(p.last, fmt.Errorf("no answer within %s", p.Limit))
		}
		select {
		case <-time.After(min(mostPause, left/2)):
		case <-ctx.Done():
		}
	}
}

// begin forgets the error of an earlier wait, which may be of another server.
func (p *Patience) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = nil
}

// failed takes the error of an attempt. Each kind of error is told once, at once.
func (p *Patience) failed(server string, err error) {
	const most = 8 // kinds, in case a server's words are new each time
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = err
	if kind := kindOfError(reason(err)); len(p.kinds) < most && !slices.Contains(p.kinds, kind) {
		p.kinds = append(p.kinds, kind)
		p.tell(server)
	} else {
		p.to.Show(p.line(server))
	}
}

// countDown shows every second how much time is left, and tells it now and then, until stop is called.
func (p *Patience) countDown(server string) (stop func()) {
	ended := make(chan struct{})
	var counting sync.WaitGroup
	counting.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.count(server)
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		counting.Wait()
	}
}

// count tells at most ten lines in all, so that a long wait does not fill a log.
func (p *Patience) count(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case time.Until(p.until) <= 0: // it is over
	case time.Since(p.told) >= max(10*time.Second, p.Limit/10):
		p.tell(server)
	default:
		p.to.Show(p.line(server))
	}
}

func (p *Patience) tell(server string) {
	p.told = time.Now()
	p.to.Tell(p.line(server))
}

// line says how much time is left, and why the last attempt failed.
func (p *Patience) line(server string) string {
	line := fmt.Sprintf("waiting up to %s more for %s", max(0, time.Until(p.until)).Round(time.Second), server)
	if p.last != nil {
		line += ": " + reason(p.last).Error()
	}
	return line
}

// reason is an error without the address and the advice.
func reason(err error) error {
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		return op.Err
	}
	return err
}

// kindOfError is the text of an error without the parts that differ each time, such as the local port.
func kindOfError(err error) string { return longNumbers.ReplaceAllString(err.Error(), "") }

var longNumbers = regexp.MustCompile(`[0-9]{4,}`) // longer than a status code
