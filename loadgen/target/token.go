package target

import (
	"context"
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
	asked   time.Time // when that was done last
	busy    bool      // with asking anew
	all     []string  // secrets to hide: the tokens so far, the newest last
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
	// mostTokens are remembered, to hide them.
	mostTokens = 8
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
	t.current, t.asked, t.renewal = token, now, now.Add(tokenLife)
	if !expires.IsZero() {
		t.renewal = expires.Add(-min(tokenLead, expires.Sub(now)/5))
	}
	if t.all = append(t.all, token); len(t.all) > mostTokens {
		t.all = t.all[1:]
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

// Refused has the token replaced, since a server refused it.
func (t *Token) Refused() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewal = time.Time{}
	if time.Since(t.asked) >= tokenPause {
		t.renew()
	}
}

// renew asks for another token in the background. The old one stays where there is none. The caller holds the lock.
func (t *Token) renew() {
	if t.busy {
		return
	}
	t.busy, t.asked = true, time.Now()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), tokenWait)
		defer cancel()
		token, expires, err := t.Ask(ctx)
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.busy = false; err == nil {
			t.take(token, expires)
		}
	}()
}

// secrets are the tokens so far.
func (t *Token) secrets() (all []secret) {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, token := range t.all {
		all = append(all, secret{token, len(token) < shortSecret})
	}
	return all
}
