package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"benchtop/export"
	"benchtop/loadgen/target"
)

// askTimeout is how long the server may take to answer before the run.
const askTimeout = 10 * time.Second

// reach checks that something listens, so that a server that is not there is one clear error and not a thousand.
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

// model is a model of the server: the name to send, and what is known of it.
type model struct {
	id    string // the name to send
	root  string // its own name, for the result
	owner string // what serves it, by its own word: "vllm", "llamacpp", …; "" where it does not say
	// named is the name that the user gave, loaded what the server says that it has loaded; "" for nothing.
	named, loaded string
	// context is how many tokens a prompt and its answer may have together, 0 where the server does not say.
	context int
	// known are the names that the server lists, those of its other models among them; nil where it gives no list.
	known []string
}

// discover asks the server for its first model.
func discover(ctx context.Context, client *http.Client, t *target.Target) (model, error) {
	all, err := listModels(ctx, client, t)
	if err != nil {
		return model{}, err
	}
	return all[0], nil
}

// named is the model that the user names, with what the server's list tells of it. A server that gives no list is taken as it
// is: the model is named.
func (o *serverOptions) named(ctx context.Context, client *http.Client) (model, error) {
	m := model{id: o.model, root: o.model, named: o.model}
	if o.servedName != "" {
		m.id = o.servedName
	}
	all, err := listModels(ctx, client, o.target)
	if err != nil {
		return m, ctx.Err()
	}
	m.owner, m.known = all[0].owner, all[0].known
	if i := slices.IndexFunc(all, func(one model) bool { return one.id == m.id }); i >= 0 {
		m.owner, m.loaded, m.context = all[i].owner, all[i].loaded, all[i].context
	}
	return m, nil
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
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %s", askTimeout)
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
	all, err := readModels(body)
	if err != nil {
		return nil, advice("the answer is not JSON: %.100q", body)
	}
	if len(all) == 0 || all[0].id == "" {
		return nil, advice("it names none")
	}
	return all, nil
}

// readModels reads an answer of /v1/models. A field of an unexpected kind is passed over.
func readModels(body []byte) ([]model, error) {
	var list struct {
		Data []struct {
			ID, Root string
			Aliases  []string // llama.cpp
			Owner    string   `json:"owned_by"`
			Longest  float64  `json:"max_model_len"` // vLLM, SGLang
			Meta     struct {
				Slot float64 `json:"n_ctx"`
			} // llama.cpp
		}
	}
	if err := json.Unmarshal(body, &list); err != nil && (len(list.Data) == 0 || !errors.As(err, new(*json.UnmarshalTypeError))) {
		return nil, err
	}
	var known []string
	for _, one := range list.Data {
		known = append(append(known, one.ID), one.Aliases...)
	}
	var all []model
	for _, one := range list.Data {
		m := model{id: one.ID, root: one.Root, owner: one.Owner, loaded: one.Root, known: known, context: int(max(one.Longest, one.Meta.Slot))}
		if m.root == "" {
			m.root = m.id
		}
		all = append(all, m)
	}
	return all, nil
}
