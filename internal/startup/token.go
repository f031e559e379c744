package startup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"benchtop/internal/launch"
	"benchtop/internal/text"
)

// ask asks a ready server for its models and for one token. A server that generates no tokens has no time of the first.
func (m *Measurement) ask(ctx context.Context, server *launch.Server, start *Start) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(m.Server.Ready, launch.DefaultReady))
	defer cancel()
	client := server.Client()
	defer client.CloseIdleConnections()
	var models struct{ Data []struct{ ID string } }
	status, answer, err := m.exchange(ctx, client, http.MethodGet, server.Address()+"/v1/models", nil)
	if err != nil {
		return err
	}
	if status != http.StatusOK || json.Unmarshal(answer, &models) != nil || len(models.Data) == 0 {
		return fmt.Errorf("%s: no model at GET /v1/models (%d): %.200s", server.Address(), status,
			text.Clean(string(answer)))
	}
	start.Models = time.Since(server.Began())
	name := models.Data[0].ID
	if m.result.Model == "" {
		m.result.Model = text.Clean(name)
	}
	for _, r := range []struct {
		path string
		body map[string]any
	}{
		{"/v1/completions", map[string]any{"prompt": "Hello"}},
		{"/v1/chat/completions", map[string]any{"messages": []map[string]string{{"role": "user", "content": "Hello"}}}},
	} {
		r.body["model"], r.body["max_tokens"], r.body["temperature"] = name, 1, 0
		body, _ := json.Marshal(r.body) // of plain values
		if status, answer, err = m.exchange(ctx, client, http.MethodPost, server.Address()+r.path, body); err != nil {
			return err
		}
		if status == http.StatusOK {
			start.FirstToken = time.Since(server.Began())
			return nil
		}
	}
	m.say("%s: no token: the server answers %d: %.200s", start.Kind, status, text.Clean(string(answer)))
	return nil
}

// exchange is a request with its whole answer.
func (m *Measurement) exchange(ctx context.Context, client *http.Client, method, url string,
	body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if m.Key != "" {
		r.Header.Set("Authorization", "Bearer "+m.Key)
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, nil, fmt.Errorf("the server is ready, but a request failed: %w", err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, answer, err
}
