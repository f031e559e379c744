package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"benchtop/internal/text"
)

// Pauser holds the scheduler of a server, which keeps accepting requests meanwhile, so that a set of requests starts
// together.
type Pauser struct {
	Client *http.Client
	Base   string // URL of the server

	mu     sync.Mutex
	resume string // the path that ends the pause, "" without one
}

// pausing are the endpoints of vLLM's development mode, the newer ones first. Requests in flight stop and go on later.
var pausing = []struct{ pause, resume string }{
	{"/pause?mode=keep", "/resume"},
	{"/sleep?level=0&mode=keep", "/wake_up?tags=scheduling"},
}

// ErrNoPause is the error of a server that cannot be paused.
var ErrNoPause = errors.New(
	"the server has neither /pause nor /sleep; start vLLM with VLLM_SERVER_DEV_MODE=1 in its environment")

// pausePatience bounds a request to pause or to resume.
const pausePatience = 30 * time.Second

// Pause stops the scheduler.
func (p *Pauser) Pause(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, by := range pausing {
		found, err := p.post(ctx, by.pause)
		if err != nil {
			return fmt.Errorf("the server could not be paused: %w", err)
		}
		if found {
			p.resume = by.resume
			return nil
		}
	}
	return ErrNoPause
}

// Resume ends the pause, if there is one. It asks even after the context of the pause has ended, for a server must not
// stay paused.
func (p *Pauser) Resume() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resume == "" {
		return nil
	}
	found, err := p.post(context.Background(), p.resume)
	if err == nil && !found {
		err = errors.New("not found")
	}
	if err != nil {
		return fmt.Errorf("the server could not be resumed: %w; POST %s resumes it", err, p.resume)
	}
	p.resume = ""
	return nil
}

// post reports whether the server has the path.
func (p *Pauser) post(ctx context.Context, path string) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, pausePatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Base+path, nil)
	if err != nil {
		return false, err
	}
	answer, err := p.Client.Do(request)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
	switch answer.StatusCode {
	case http.StatusOK:
		return true, nil
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return false, nil
	}
	return false, fmt.Errorf("%s: status %d %s", path, answer.StatusCode, text.Clean(strings.TrimSpace(string(body))))
}
