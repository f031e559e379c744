package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"benchtop/export"
	"benchtop/loadgen/target"
)

// askTimeout is how long the server may take to answer before the run.
const askTimeout = 10 * time.Second

// reach checks that somebody listens, so that a server that is not there is one clear error and not a thousand.
func reach(ctx context.Context, t *target.Target) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	raw, err := t.Dial(ctx)
	if err == nil {
		raw, err = t.Secure(ctx, raw)
	}
	if certificate := new(tls.CertificateVerificationError); errors.As(err, &certificate) {
		return fmt.Errorf("cannot trust %s: %w; if you know the server, --insecure accepts its certificate", t, err)
	}
	if err != nil {
		return fmt.Errorf("cannot reach %s: %w; is the server up, and is this its address (--base-url, --host, --port)? "+
			"'benchtop demo' runs without a server", t, err)
	}
	return raw.Close()
}

// model is the first model a server names: the name to send, and the model's own name.
type model struct{ id, root, owner string }

// discover asks the server for its first model.
func discover(ctx context.Context, client *http.Client, t *target.Target) (model, error) {
	all, err := listModels(ctx, client, t)
	if err != nil {
		return model{}, err
	}
	return all[0], nil
}

// listModels asks the server for its models; there is at least one.
func listModels(ctx context.Context, client *http.Client, t *target.Target) ([]model, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	url := t.URL("/v1/models")
	advice := func(format string, a ...any) error {
		return fmt.Errorf("asking %s for its models: %s; name the model with --model", url, export.Clean(t.Hide(fmt.Sprintf(format, a...))))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		var inner interface{ Unwrap() error }
		if errors.As(err, &inner) && inner.Unwrap() != nil {
			err = inner.Unwrap() // without the URL a second time
		}
		return nil, advice("%s", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return nil, advice("%s", err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, advice("%s: %.200s", answer.Status, body)
	}
	var list struct {
		Data []struct {
			ID, Root string
			Owner    string `json:"owned_by"`
		}
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, advice("the answer is not JSON: %.100q", body)
	}
	if len(list.Data) == 0 || list.Data[0].ID == "" {
		return nil, advice("it names none")
	}
	var all []model
	for _, named := range list.Data {
		m := model{named.ID, named.Root, named.Owner}
		if m.root == "" {
			m.root = m.id
		}
		all = append(all, m)
	}
	return all, nil
}
