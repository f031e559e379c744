package simulator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// A server that heeds priorities begins with the lowest, in the order of arrival within one; the header wins over the
// body.
func TestPriority(t *testing.T) {
	for _, prioritized := range []bool{true, false} {
		p := round()
		p.MaxSequences, p.Prioritized = 1, prioritized
		bubble(t, p, func(c *client) {
			ask := func(priority, header string) (status int) {
				r := c.request(context.Background(), "POST", "/v1/completions",
					`{"prompt":[5,6,7],"max_tokens":20,"ignore_eos":true,"priority":`+priority+`}`)
				r.Header.Set("Content-Type", "application/json")
				if header != "" {
					r.Header.Set("X-Vllm-Priority", header)
				}
				response, err := c.http.Do(r)
				if err != nil {
					t.Error(err)
					return 0
				}
				defer response.Body.Close()
				if _, err := io.Copy(io.Discard, response.Body); err != nil {
					t.Error(err)
				}
				return response.StatusCode
			}
			if !prioritized {
				for _, a := range [][2]string{{"1", ""}, {"0", "-3"}} {
					assert.Equal(t, ask(a[0], a[1]), http.StatusBadRequest, "priority %v without the policy", a)
				}
				return
			}
			assert.Equal(t, ask("0", "high"), http.StatusBadRequest, "a header that is no number")
			var order []string
			var mu sync.Mutex
			var all sync.WaitGroup
			for i, a := range [][2]string{{"0", ""}, {"9", ""}, {"1", ""}, {"9", "-2"}, {"1", ""}} {
				all.Go(func() {
					time.Sleep(time.Duration(i) * time.Millisecond)
					ask(a[0], a[1])
					mu.Lock()
					defer mu.Unlock()
					order = append(order, fmt.Sprint(i))
				})
			}
			all.Wait()
			synctest.Wait()
			assert.Equal(t, strings.Join(order, " "), "0 3 2 4 1", "answered in the order")
		})
	}
}
