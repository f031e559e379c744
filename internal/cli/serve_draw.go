package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"benchtop/datasets"
	"benchtop/datasets/hub"
	"benchtop/datasets/numpy"
	"benchtop/internal/cli/server"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// drawn is what the data set gave.
type drawn struct {
	source      loadgen.Source
	supply      *supply
	first       datasets.Conversation
	n           int // conversations in it, math.MaxInt for no end
	description string
	counted     metrics.TokenSource
	tokenizer   string // "" for none
	means       *means
	// more gives prompts when there are no more of these; nil where they never end.
	more  func() (loadgen.Source, error)
	times []time.Duration // of a trace
	notes []string
}

// drawPatience is how long a run without end waits for its first prompts.
const drawPatience = 2 * time.Second

// draw prepares the prompts: it finds a tokenizer, draws and, where the server counts otherwise, cuts to its measure.
func (o *serveOptions) draw(ctx context.Context, env *environment, all *supplies, client *http.Client, m server.Model, ready *server.Patience, streams *numpy.Streams) (drawn, error) {
	if !o.prompts.tokens.skip {
		env.step(stepTokenizer)
		env.show("looking for that of " + cmp.Or(o.prompts.tokens.name, m.Root))
	}
	hub := hub.New(hub.Options{Progress: env.tell})
	means, err := o.prompts.findMeans(ctx, seeker{target: o.server.Target, client: client, hub: hub, model: m, server: true, ready: ready})
	if err != nil {
		return drawn{}, err
	}
	switch {
	case o.prompts.tokens.skip:
	case means.Counter == nil:
		env.show("none: " + means.absent)
	default:
		env.show(means.inWords())
	}
	env.step(stepPrompts)
	drawing := o.prompts.drawing(all.ctx, means, streams, hub, o.server.Protocol, o.content.idPrefix)
	drawing.common.Endless = o.load.shape().Endless()
	source, err := drawing.draw(ctx)
	if err != nil {
		return drawn{}, err
	}
	// What the source says of itself is asked before the supply draws from it.
	d := drawn{n: source.Len(), description: source.Description(), counted: means.counted, tokenizer: means.name, means: means}
	if trace, ok := source.(interface{ Times() []time.Duration }); ok && o.prompts.selfTiming() {
		d.times = trace.Times()
	}
	d.supply = all.begin(source, supplyBytes)
	patience := drawPatience
	if d.n > 0 {
		patience = 0
	}
	err = d.supply.fill(ctx, patience, env.countEvery(), func(n int) { env.count(n, d.n, "prompts drawn") })
	if err != nil && ctx.Err() == nil {
		err = drawError(err)
	}
	if err != nil {
		return d, err
	}
	var some bool
	if d.first, some = d.supply.first(); !some {
		return d, usage.Wrap(errors.New("the data set holds not one prompt that can be sent"))
	}
	if d.supply.all() != nil { // all is drawn
		means.note(offLength(source))
	}
	d.notes = means.notes
	if o.prompts.needs().Aligned {
		d.notes = append(d.notes, means.align(ctx, env, d.supply)...)
	}
	check := checkContext
	if !o.server.Protocol.Traits().Streams {
		check = checkPooled
	}
	odd, err := check(m, d.supply.ahead(), means.counted)
	if err != nil {
		return d, err
	}
	d.notes = append(d.notes, odd...)
	d.source = d.supply
	switch d.counted {
	case metrics.TokensFromEstimate:
		d.description += ", lengths estimated"
	case metrics.TokensFromTokenizer, metrics.TokensFromServer:
		d.description += ", tokens by " + means.tally()
	}
	if d.n == 0 {
		d.n = math.MaxInt
	}
	o.goOn(&d, source, all)
	return d, nil
}

// goOn arranges for more prompts than the data set was asked for, where the load may be steered beyond it.
func (o *serveOptions) goOn(d *drawn, source datasets.Source, all *supplies) {
	var draw func() (datasets.Source, error)
	if source, ok := source.(datasets.Extensible); ok {
		draw = source.More()
	}
	switch {
	case d.n == math.MaxInt:
	case draw != nil:
		d.more = func() (loadgen.Source, error) {
			more, err := draw()
			if err != nil {
				return nil, err
			}
			return all.begin(more, moreBytes), nil
		}
	case !o.load.promptsGiven && (o.load.find.searching() || o.load.shape().End() > 0):
		d.source = &again{rest: d.supply, repeats: d.supply.repeats} // a higher rate may need more than there are
		if o.load.find.searching() {
			d.notes = append(d.notes, fmt.Sprintf("the search repeats the data set's %d prompts; the server's prefix cache may know them then", d.n))
		}
	}
}
