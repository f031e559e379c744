package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"benchtop/datasets"
	"benchtop/export"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// checkModels finds out before the load whether the server has the models that requests name, and returns what is odd about
// them. A list without a name is no proof: llama.cpp answers to any, and others load what they are asked for. So a request of
// one token decides. A server without a list is not asked, nor is any where --extra-body names the model.
func (o *serveOptions) checkModels(ctx context.Context, m model) (odd []string, err error) {
	if m.known == nil || o.content.extraBody.Has("model") {
		return nil, nil
	}
	asked := []string{m.id}
	flag := "--model"
	if o.server.servedName != "" {
		flag = "--served-model-name"
	}
	if len(o.content.lora) > 0 {
		asked, flag = o.content.lora, "--lora-modules"
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(asked))) {
		if slices.Contains(m.known, name) {
			continue
		}
		q, optional := o.tryModel(ctx, name)
		words := export.Clean(fmt.Sprintf("%s: %s", inShort(q), q.Error))
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case q.OK():
			odd = append(odd, fmt.Sprintf("%s %s: the server does not list this model, but answers to the name", flag, usage.Quote(name)))
		case len(metrics.RefusedFields(optional, q.Status, q.Error)) > 0: // which says nothing about the model
		case q.Status == http.StatusNotFound || q.Status == http.StatusBadRequest || q.Status == http.StatusUnprocessableEntity:
			return nil, usage.Errorf("%s %s: the server does not list this model and refuses a request for it: %s; name one that it lists: %s%s",
				flag, usage.Quote(name), words, listed(m.known), usage.DidYouMean(name, m.known))
		default:
			odd = append(odd, fmt.Sprintf("%s %s: the server does not list this model, and a request for it failed (%s)", flag, usage.Quote(name), words))
		}
	}
	return odd, nil
}

// tryModel asks for one token of the model, with the fields of the run's requests; optional are those that can be left out.
func (o *serveOptions) tryModel(ctx context.Context, name string) (q metrics.Request, optional []string) {
	load := loadgen.Defaults()
	load.Target, load.Endpoint, load.Protocol, load.Model = o.server.target, o.server.endpoint, o.server.protocol, name
	load.RequestTimeout, load.Extra = askTimeout, o.content.bodyFields(o.fullLength())
	turn := datasets.Turn{Text: "Hi", InputTokens: 1, MaxTokens: 1}
	return loadgen.Try(ctx, load, []datasets.Turn{turn}, 1)[0], load.Optional(&turn)
}

// inShort is a failure's status, or its kind where there was none.
func inShort(q metrics.Request) string {
	if q.Failure == metrics.FailedStatus {
		return fmt.Sprint("status ", q.Status)
	}
	return string(q.Failure)
}

// listed are the first of some names, and how many more there are.
func listed(names []string) string {
	const most = 10
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
