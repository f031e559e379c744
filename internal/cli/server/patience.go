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

// Patience is that with a server that is still starting: none, or until a moment.
type Patience struct {
	Limit time.Duration
	to    Reporter
	until time.Time
	said  []string // the kinds of errors that were told
}

// Reporter hears of a server that is waited for: Tell of what is new, Show of what goes on.
type Reporter interface {
	Tell(string)
	Show(string)
}

// Patience begins now.
func (o *Options) Patience(to Reporter) *Patience {
	p := &Patience{Limit: time.Duration(o.Ready) * time.Second, to: to}
	p.Restart()
	return p
}

// Restart has all of the patience begin now.
func (p *Patience) Restart() { p.until = time.Now().Add(p.Limit) }

// Within is ctx until the patience ends, if there is any.
func (p *Patience) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.Limit == 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, p.until)
}

// Again waits before another try and reports whether there is to be one. It tells each kind of error once, at once.
func (p *Patience) Again(ctx context.Context, server string, err error) bool {
	const least = 100 * time.Millisecond // for a try, which would else say only that the time is up
	left := time.Until(p.until)
	if p.Limit == 0 || left < least || ctx.Err() != nil {
		return false
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err // without the address and what to do about it: waiting may do
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

// kindOfError is an error's words without what differs each time, such as the port on this side.
func kindOfError(err error) string { return longNumbers.ReplaceAllString(err.Error(), "") }

var longNumbers = regexp.MustCompile(`[0-9]{4,}`) // longer than a status
