package simulator

import (
	"context"
	"errors"
	"net/http"
)

// errInjected is the error of a stream that a fault has ended, and that has nothing left to write.
var errInjected = errors.New("ended by a fault")

// stream writes the answer as events: the headers and the first events now, then those of each step, then the end. A
// request that the engine gives up ends with an error event; a client that is gone, or a fault, ends the stream at
// once.
func (g *generation) stream(ctx context.Context, w http.ResponseWriter, d dialect) {
	out, err := g.openEvents(ctx, w)
	if err == nil {
		err = d.open(g, out)
	}
	if err == nil {
		err = g.streamTokens(ctx, out, d)
	} else {
		g.engine.abort(g.seq)
	}
	var given engineError
	if errors.As(err, &given) {
		err = d.fail(g, out, broken(err))
	} else if err == nil {
		err = d.close(g, out)
	}
	if err == nil {
		_ = out.flushAll() // the client may be gone
	}
}

// streamTokens writes the tokens and injects the fault of the request in its place.
func (g *generation) streamTokens(ctx context.Context, out *events, d dialect) error {
	write := func(tokens []token) error {
		if len(tokens) == 0 {
			return nil
		}
		if g.arrival.OutputTokens == 0 {
			g.arrival.FirstToken = g.now()
			g.arrival.read(g.seq.cached)
		}
		if err := d.step(g, out, tokens); err != nil {
			return err
		}
		g.arrival.OutputTokens += len(tokens)
		g.say(tokens)
		return nil
	}
	before := g.beforeFault()
	if before == 0 {
		if err := g.inject(ctx, out, d); err != nil {
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
		if err := g.inject(ctx, out, d); err != nil {
			return err
		}
		return write(tokens[n:])
	})
}

// beforeFault returns the number of tokens before a fault in the middle of the stream, -1 for no such fault. The last
// token always comes after it, or the answer would be complete.
func (g *generation) beforeFault() int {
	f := g.arrival.fault
	if f.Kind == FaultEmpty {
		return 0
	}
	if rule, err := ruleOf(f.Kind); err != nil || !rule.tokens {
		return -1
	}
	return min(f.After, g.seq.limit-1)
}

// inject injects the fault into the middle of a stream. Without an error the stream goes on.
func (g *generation) inject(ctx context.Context, out *events, d dialect) error {
	var err error
	switch f := g.arrival.fault; f.Kind {
	case FaultLoop: // of the tokens
		return nil
	case FaultStall:
		return g.engine.delay(ctx, f.duration())
	case FaultReset:
		disconnect(out.w, "", true)
	case FaultClose:
		disconnect(out.w, "", false)
	case FaultEmpty:
		err = d.close(g, out)
	case FaultErrorInStream:
		err = d.fail(g, out, broken(errors.New("simulated fault: the engine failed")))
	case FaultMalformed:
		err = errors.Join(out.write("data: {\"id\":\"simulated fault\",\"choices\":[{\"index\":0,\n\n"),
			d.close(g, out))
	}
	if err != nil {
		return err
	}
	return errInjected
}

// suffers reports whether the request's fault is of that kind.
func (g *generation) suffers(kind FaultKind) bool { return g.arrival.fault.Kind == kind }
