package loadgen

import (
	"cmp"
	"slices"

	"benchtop/datasets"
	"benchtop/loadgen/protocol"
)

// encoder writes the bodies of a run's requests: what the protocol makes of a turn, with the run's own fields and salt.
type encoder struct {
	protocol protocol.Protocol
	traits   protocol.Traits
	model    string
	// extra is set last and replaces fields of the same name in place.
	extra []protocol.Field
	salt  Salt
}

func newEncoder(o *Options) encoder {
	e := encoder{protocol: o.Protocol, traits: o.Protocol.Traits(), model: o.Model, salt: o.Salt}
	for _, f := range slices.Concat(o.Salt.fields(), o.Extra) {
		e.extra = append(e.extra, f.AsPython())
	}
	return e
}

func (e *encoder) ask(model string, turn *datasets.Turn) protocol.Ask {
	return protocol.Ask{Model: cmp.Or(model, e.model), Turn: turn, Extra: e.extra}
}

// length is the output length that the body of a turn asks for, and the most that a server may read in it; see protocol.Ask.
func (e *encoder) length(turn *datasets.Turn) (length, most int) {
	return e.ask("", turn).Length(e.traits.LengthField)
}

// body appends the request body for a turn to dst. model is asked for instead of the encoder's own unless it is "".
func (e *encoder) body(dst []byte, model string, turn *datasets.Turn) ([]byte, error) {
	salted, err := e.salt.onto(*turn)
	if err != nil {
		return dst, err
	}
	return e.protocol.Body(dst, e.ask(model, &salted))
}

// IgnoresEOS reports whether the requests ask for answers of full length.
func (o *Options) IgnoresEOS() bool {
	ignores := false
	for _, f := range o.Extra {
		if f.Name == "ignore_eos" {
			ignores = f.JSON == "true"
		}
	}
	return ignores
}

// Optional are the names of the own fields in the body of a turn that a server can do without, in its order.
func (o *Options) Optional(turn *datasets.Turn) []string {
	e := newEncoder(o)
	return protocol.Optional(e.protocol, e.ask("", turn))
}
