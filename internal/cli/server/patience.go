package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"time"
)

// Patience limits the wait for a server that is still starting.
type Patience struct {
	Limit time.Duration
	to    Reporter
	until time.Time
	said  []string // the kinds of errors that were reported
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
func (p *Patience) Restart() { p.until = time.Now().Add(p.Limit) }

// Within is ctx until the patience ends, if there is any.
func (p *Patience) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.Limit == 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, p.until)
}

// Again waits before another try and reports whether there is one. Each kind of error is reported once, at once.
func (p *Patience) Again(ctx context.Context, server string, err error) bool {
	const least = 100 * time.Millisecond // for a try; a shorter one would only time out
	left := time.Until(p.until)
	if p.Limit == 0 || left < least || ctx.Err() != nil {
		return false
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err // without the address and the advice
	}
	const most = 8 // kinds, in case a server's words are new each time
	waiting := fmt.Sprintf("waiting up to %s for %s: %s", max(left, time.Second).Round(time.Second), server, err)
	if kind := kindOfError(err); len(p.said) < most && !slices.Contains(p.said, kind) {
		p.to.Tell(waiting)
		p.said = append(p.said, kind)
	} else {
		p.to.Show(waiting)
	}
	select {
	case <-time.After(min(time.Second, left/2)):
	case <-ctx.Done():
	}
	return true
}

// kindOfError is the text of an error without the parts that differ each time, such as the local port.
func kindOfError(err error) string { return longNumbers.ReplaceAllString(err.Error(), "") }

var longNumbers = regexp.MustCompile(`[0-9]{4,}`) // longer than a status code
