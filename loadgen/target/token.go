package target

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Token is a bearer token that a Target asks for anew before it expires and after the server refused it. A nil Token is
// none. It is safe for concurrent use, and several targets may share it.
type Token struct {
	// Ask brings a token and the time at which it expires, the zero time where that is not known. The token has no
	// character that cannot be sent.
	Ask func(ctx context.Context) (token string, expires time.Time, err error)

	mu      sync.Mutex // guards what follows
	current string
	renewal time.Time // when the token is asked for anew
	asked   time.Time // when that was last done, and refused when a refusal was the reason
	refused time.Time
	cancel  context.CancelFunc // ends asking anew, nil where that is not under way
	trouble string             // why asking anew brought no token, "" where it brought one
	failed  func(error)        // hears of trouble, nil for nobody
	over    chan struct{}      // closed when asking anew ended, nil before the first time
	old     []oldToken         // secrets to hide, each once
}

// oldToken is a token that was replaced.
type oldToken struct {
	text  string
	since time.Time
}

const (
	// tokenLife is how long a token is used that does not say when it expires.
	tokenLife = 10 * time.Minute
	// tokenLead is how long before its end a token is asked for anew, at most a fifth of its life.
	tokenLead = 5 * time.Minute
	// tokenPause is the shortest time between two tokens, so that a server that refuses all of them brings no flood.
	tokenPause = 10 * time.Second
	// tokenWait is how long a token may take.
	tokenWait = time.Minute
	// tokenMemory is how long a token is hidden after it was replaced: longer than any request that has it takes.
	tokenMemory = 24 * time.Hour
)

// TokenError says why there is no token.
type TokenError struct{ error }

// First asks for the first token, unless there is one. The error is a TokenError.
func (t *Token) First(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, tokenWait)
	defer cancel()
	token, expires, err := t.Ask(ctx)
	if err != nil {
		return TokenError{err}
	}
	t.take(token, expires)
	return nil
}

// take has a token used from now on. The caller holds the lock.
func (t *Token) take(token string, expires time.Time) {
	now := time.Now()
	t.old = slices.DeleteFunc(t.old, func(o oldToken) bool {
		return o.text == token || o.text == t.current || now.Sub(o.since) > tokenMemory
	})
	if t.current != "" && t.current != token {
		t.old = append(t.old, oldToken{t.current, now})
	}
	t.current, t.renewal = token, now.Add(tokenLife)
	if !expires.IsZero() {
		t.renewal = expires.Add(-min(tokenLead, expires.Sub(now)/5))
	}
}

// Value is the Authorization header of a request, "" for none. It does not wait: a token that is about to expire is
// replaced in the background.
func (t *Token) Value() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == "" {
		return ""
	}
	if now := time.Now(); !now.Before(t.renewal) && now.Sub(t.asked) >= tokenPause {
		t.renew()
	}
	return "Bearer " + t.current
}

// Refused has the token replaced, since a server refused it: at once, unless that was done a moment ago.
func (t *Token) Refused() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewal = time.Time{}
	if now := time.Now(); now.Sub(t.refused) >= tokenPause {
		t.refused = now
		t.renew()
	}
}

// renew asks for another token in the background. The old one stays where there is none. The caller holds the lock.
func (t *Token) renew() {
	if t.cancel != nil {
		return
	}
	var ctx context.Context
	ctx, t.cancel = context.WithTimeout(context.Background(), tokenWait)
	over := make(chan struct{})
	t.asked, t.over = time.Now(), over
	go func() {
		defer close(over)
		token, expires, err := t.Ask(ctx)
		if tell := t.renewed(ctx, token, expires, err); tell != nil {
			tell(TokenError{err})
		}
	}()
}

// renewed takes the outcome of asking anew, and returns who is to hear of its error, nil for nobody.
func (t *Token) renewed(ctx context.Context, token string, expires time.Time, err error) (tell func(error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stopped := errors.Is(ctx.Err(), context.Canceled)
	t.cancel()
	t.cancel = nil
	switch {
	case err == nil:
		t.trouble = ""
		t.take(token, expires)
	case !stopped && err.Error() != t.trouble:
		t.trouble = err.Error()
		return t.failed
	}
	return nil
}

// Tell has failed hear why a token that is due cannot be had, once for each reason in a row: now where that is so
// already, later from another goroutine. nil is for nobody.
func (t *Token) Tell(failed func(error)) {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.failed = failed
	trouble := t.trouble
	t.mu.Unlock()
	if failed != nil && trouble != "" {
		failed(TokenError{errors.New(trouble)})
	}
}

// Stop ends asking anew, after some patience where that is under way. A later request may begin it again.
func (t *Token) Stop(patience time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	cancel, over := t.cancel, t.over
	t.mu.Unlock()
	if cancel != nil {
		defer time.AfterFunc(patience, cancel).Stop()
	}
	if over != nil {
		<-over
	}
}

// secrets are the token, and those that requests in flight may still have.
func (t *Token) secrets() (all []secret) {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range append([]oldToken{{text: t.current}}, t.old...) {
		if o.text != "" {
			all = append(all, secret{o.text, len(o.text) < shortSecret})
		}
	}
	longestFirst(all)
	return all
}
