package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"syscall"
	"time"

	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
)

// AskTimeout is how long the server may take to answer before the run.
const AskTimeout = 10 * time.Second

// Reach checks that the server listens, so that a missing server gives one clear error instead of a failure for each
// request.
func Reach(ctx context.Context, t *target.Target) error {
	ctx, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	raw, err := t.Dial(ctx)
	if err == nil {
		raw, err = t.Secure(ctx, raw)
	}
	if err != nil {
		if why := distrust(t, err); why != nil {
			return refusal{why}
		}
		if errors.Is(err, syscall.EADDRNOTAVAIL) {
			return fmt.Errorf("cannot reach %s: %w; this machine has no free port or no address for it: wait a minute "+
				"for ports of earlier connections, use several of its addresses with --bind, or widen "+
				"net.ipv4.ip_local_port_range", t, err)
		}
		return fmt.Errorf(
			"cannot reach %s: %w; is the server up, and is the address right (--base-url, --host, --port)?  "+
				"'benchtop demo' runs without a server", t, err)
	}
	return raw.Close()
}

// Model is a model of the server: the name to send and its known properties.
type Model struct {
	ID    string // the name to send
	Root  string // its own name, for the result
	Owner string // the engine that serves it, as it names itself: "vllm", "llamacpp", …; "" if unknown
	// Named is the name that the user gave, Loaded the one that the server reports as loaded; "" for none.
	Named, Loaded string
	// Context is how many tokens a prompt and its answer may have together, 0 where the server does not say.
	Context int
	// Known are the names that the server lists, those of its other models among them; nil where it gives no list.
	Known []string
}

// Ask asks the server for its first model, or for the properties of the one that the user names. A named model needs no
// list.
func (o *Options) Ask(ctx context.Context, client *http.Client) (Model, error) {
	all, err := List(ctx, client, o.Target)
	m := Model{ID: cmp.Or(o.ServedName, o.Model), Root: o.Model, Named: o.Model}
	switch {
	case err != nil && o.Model == "" && errors.As(err, new(unauthorizedError)):
		return m, refusal{fmt.Errorf("%w%s", err, Advice(http.StatusUnauthorized, o.Backend, o.auth != ""))}
	case err != nil && (o.Model == "" || isFinal(err)):
		return m, err
	case err != nil:
		return m, ctx.Err()
	case o.Model == "":
		return all[0], nil
	}
	m.Owner, m.Known = all[0].Owner, all[0].Known
	if i := slices.IndexFunc(all, func(one Model) bool { return one.ID == m.ID }); i >= 0 {
		m.Owner, m.Loaded, m.Context = all[i].Owner, all[i].Loaded, all[i].Context
	}
	return m, nil
}

// Advice is what to try, behind a semicolon, where a server refuses requests of a backend with a status; "" for none.
// With token they have that of --auth-command.
func Advice(status int, backend string, token bool) string {
	switch {
	case status == http.StatusNotFound:
		return "; are --model, --backend and --endpoint right?"
	case status != http.StatusUnauthorized && status != http.StatusForbidden:
		return ""
	case token:
		return "; is the token of --auth-command right for this server? Run the command in a shell to see it"
	}
	variable := "OPENAI_API_KEY"
	if p := protocol.Named(backend); p != nil {
		variable = cmp.Or(p.Traits().KeyFrom, variable)
	}
	return "; is the API key right? It is taken from --api-key, " + variable + ", --header or --auth-command"
}

// modelsPath is where a server lists its models.
const modelsPath = "/v1/models"

// List asks the server for its models; there is at least one.
func List(ctx context.Context, client *http.Client, t *target.Target) ([]Model, error) {
	if err := t.Token().First(ctx); err != nil { // which may take longer than an answer
		return nil, unreached(ctx, t, err)
	}
	ctx, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL(modelsPath), nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, unreached(ctx, t, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return nil, notListed(t, "%s", err)
	}
	if err := refused(ctx, t, answer, body); err != nil {
		return nil, err
	}
	all, err := readModels(body)
	if err != nil {
		return nil, notListed(t, "the answer is not JSON: %.100q", body)
	}
	if len(all) == 0 || all[0].ID == "" {
		return nil, notListed(t, "it lists none")
	}
	return all, nil
}

// notListed says why a server's models are not known, and what to do.
func notListed(t *target.Target, format string, a ...any) error {
	return fmt.Errorf("asking %s for its models: %s; name the model with --model",
		t.URL(modelsPath), text.Clean(t.Hide(fmt.Sprintf(format, a...))))
}

// wantsTLS is the error of a server that speaks TLS behind an address without it.
func wantsTLS(t *target.Target) error {
	return refusal{usage.Errorf("%s speaks TLS; is it https:// rather than http://?", t)}
}

// unreached says why there is no answer.
func unreached(ctx context.Context, t *target.Target, err error) error {
	if speaksTLS(ctx, t) {
		return wantsTLS(t)
	}
	if why := distrust(t, err); why != nil {
		return refusal{why}
	}
	if none, ok := errors.AsType[target.TokenError](err); ok {
		return refusal{usage.Wrap(none)}
	}
	var inner interface{ Unwrap() error }
	if errors.As(err, &inner) && inner.Unwrap() != nil {
		err = inner.Unwrap() // without the URL a second time
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", AskTimeout)
	}
	return notListed(t, "%s", err)
}

// refused says why an answer is no list of models, nil where it is one by its status.
func refused(ctx context.Context, t *target.Target, answer *http.Response, body []byte) error {
	if err := moved(t, modelsPath, answer); err != nil {
		return err
	}
	switch status := answer.StatusCode; {
	case status == http.StatusOK:
		return nil
	case status == http.StatusNotFound && inBaseURL(t, modelsPath):
		return refusal{usage.Errorf("the server has no %s (404); leave /v1 out of --base-url", t.URL(modelsPath))}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return unauthorizedError{fmt.Errorf("asking %s for its models: %s: %s", t.URL(modelsPath), answer.Status,
			text.Clean(t.Hide(fmt.Sprintf("%.200s", body))))}
	case status == http.StatusBadRequest && speaksTLS(ctx, t):
		return wantsTLS(t)
	}
	return notListed(t, "%s: %.200s", answer.Status, body)
}

// unauthorizedError is the error of a server that wants another key.
type unauthorizedError struct{ error }

// readModels reads an answer of /v1/models and ignores fields of unexpected types.
func readModels(body []byte) ([]Model, error) {
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
	if err := json.Unmarshal(body, &list); err != nil &&
		(len(list.Data) == 0 || !errors.As(err, new(*json.UnmarshalTypeError))) {
		return nil, err
	}
	var known []string
	for _, one := range list.Data {
		known = append(append(known, one.ID), one.Aliases...)
	}
	var all []Model
	for _, one := range list.Data {
		all = append(all, Model{
			ID: one.ID, Root: cmp.Or(one.Root, one.ID), Owner: one.Owner, Loaded: one.Root, Known: known,
			Context: int(max(one.Longest, one.Meta.Slot)),
		})
	}
	return all, nil
}

// Find reaches each server and asks for its model, within the patience that was asked for. The model is that of the
// first.
func (o *Options) Find(ctx context.Context, client *http.Client, ready *Patience) (m Model, err error) {
	err = o.each(client, func(one *Options, client *http.Client) error {
		return ready.Until(ctx, one.Target.String(), func(ctx context.Context) (final bool, err error) {
			if err = Reach(ctx, one.Target); err == nil && one.Target == o.Target {
				m, err = one.Ask(ctx, client)
			}
			return isFinal(err), err
		})
	})
	return m, err
}

// unlisted are warnings of the models of the requests that a server does not list. They may still exist: llama.cpp
// answers to any name, and others load models on demand. There are none for a server without a list, and where a field
// names the model.
func (o *Options) unlisted(m Model, modules []string, fields []protocol.Field) (odd []string) {
	if m.Known == nil || slices.ContainsFunc(fields, func(f protocol.Field) bool { return f.Name == "model" }) {
		return nil
	}
	asked, flag := []string{m.ID}, "--model"
	switch {
	case len(modules) > 0:
		asked, flag = modules, "--lora-modules"
	case o.ServedName != "":
		flag = "--served-model-name"
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(asked))) {
		if !slices.Contains(m.Known, name) {
			odd = append(odd, fmt.Sprintf("%s %s: the server does not list this model; it lists %s%s", flag,
				usage.Quote(name), text.List(m.Known, 10), usage.DidYouMean(name, m.Known)))
		}
	}
	return odd
}
