package simulator

import (
	"context"
	"errors"
	"net/http"
)

// errStruck says that a fault has ended a stream; what there was to write about it is written.
var errStruck = errors.New("ended by a fault")

// stream writes the answer as events: the headers now, then whatever event makes of the tokens of each step, then usage
// if it was asked for, then the end marker. If the engine stops under it, the stream says so in an event. A client that has
// gone just ends it, and so may a fault.
func (g *generation) stream(ctx context.Context, w http.ResponseWriter, options *streamOptions,
	event func(out *events, tokens []token) error, last func(usage) any) {
	out, err := openEvents(ctx, w, g.engine, g.arrival.fault)
	if err == nil {
		err = g.streamTokens(ctx, out, event)
	} else {
		g.engine.abort(g.seq)
	}
	if errors.Is(err, errStopped) {
		err = out.send(broken(err).body())
	} else if err == nil && options.IncludeUsage && !g.suffers(FaultNoUsage) {
		err = out.send(last(g.finalUsage()))
	}
	if err == nil && !g.suffers(FaultNoDone) {
		err = out.done()
	}
	if err == nil {
		_ = out.flushAll() // nobody left to tell
	}
}

// streamTokens writes the tokens, and lets the fault of the request happen where it belongs.
func (g *generation) streamTokens(ctx context.Context, out *events, event func(out *events, tokens []token) error) error {
	write := func(tokens []token) error {
		if len(tokens) == 0 {
			return nil
		}
		if g.arrival.outputTokens == 0 {
			g.arrival.firstToken = g.now()
		}
		err := event(out, tokens)
		if err == nil {
			g.arrival.outputTokens += len(tokens)
		}
		return err
	}
	before := g.beforeFault()
	if before == 0 {
		if err := g.strike(ctx, out); err != nil {
			g.engine.abort(g.seq)
			return err
		}
	}
	return g.each(ctx, func(tokens []token) error {
		n := before - tokens[0].index // of these, how many come before the fault
		if n <= 0 || n > len(tokens) {
			return write(tokens)
		}
		if err := write(tokens[:n]); err != nil {
			return err
		}
		if err := g.strike(ctx, out); err != nil {
			return err
		}
		return write(tokens[n:])
	})
}

// beforeFault returns how many tokens come before a fault in the middle of the stream, -1 if there is none. The last token
// never comes before it, or the answer would be complete.
func (g *generation) beforeFault() int {
	f := g.arrival.fault
	if f == nil {
		return -1
	}
	if f.Kind == FaultEmpty {
		return 0
	}
	if rule, err := ruleOf(f.Kind); err != nil || !rule.tokens {
		return -1
	}
	return min(f.After, g.seq.limit-1)
}

// strike does what happens in the middle of a stream. No error means that the stream goes on.
func (g *generation) strike(ctx context.Context, out *events) error {
	var err error
	switch f := g.arrival.fault; f.Kind {
	case FaultStall:
		return g.engine.pause(ctx, f.duration())
	case FaultReset:
		hangUp(out.w, "", true)
	case FaultClose:
		hangUp(out.w, "", false)
	case FaultEmpty:
		err = out.done()
	case FaultErrorInStream:
		failure := broken(errors.New("simulated fault: the engine failed"))
		err = errors.Join(out.send(failure.body()), out.done())
	case FaultMalformed:
		err = errors.Join(out.write("data: {\"id\":\"simulated fault\",\"choices\":[{\"index\":0,\n\n"), out.done())
	}
	if err != nil {
		return err
	}
	return errStruck
}

// suffers says that the request's fault is of that kind.
func (g *generation) suffers(kind FaultKind) bool {
	return g.arrival.fault != nil && g.arrival.fault.Kind == kind
}
