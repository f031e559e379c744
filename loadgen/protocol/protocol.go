// Package protocol writes the bodies of requests to the endpoints of a server, and reads their answers: the events of a stream, or an
// answer in one piece. It leaves out how the bytes travel and when.
package protocol

import (
	"fmt"
	"strings"

	"benchtop/datasets"
)

// Protocol is the protocol of an endpoint. A value is comparable, holds no state and may be used from any goroutine.
type Protocol interface {
	// Traits are the same for all requests.
	Traits() Traits
	// Body appends the body of a request to dst.
	Body(dst []byte, a Ask) ([]byte, error)
	// Event reads an event of a stream. It is for protocols that stream.
	Event(r *Reader, data []byte) (Message, error)
	// Whole reads an answer that is not a stream.
	Whole(r *Reader, body []byte) (Message, error)
}

// Traits are the fixed facts of a protocol.
type Traits struct {
	Name        string         // vLLM's name for it, the value of --backend
	Path        string         // of the API, unless another is given
	Suffix      string         // that a URL for the API ends in
	ContentType string         // of a request's body
	Streams     bool           // an answer is a stream of events unless the request asks otherwise
	Ending      string         // the end of a complete stream, for error messages
	Member      string         // of a whole answer that holds its output
	LengthField string         // the field of a body that bounds the length of an answer; "" where answers have no length
	Forms       datasets.Forms // in which a request can hold its prompts
	// Templates: the server writes the prompt by the model's chat template.
	Templates bool
	// Logprobs: the body has the field of --logprobs.
	Logprobs bool
}

// Ask is one request to a model.
type Ask struct {
	Model string
	Turn  *datasets.Turn
	// Extra fields of the body, set behind the protocol's own and replacing those of the same name where they stand. Their
	// values are as Python writes them. Any may be replaced; null leaves an OwnField out and is sent in any other.
	Extra []Field
}

// All are the protocols there are.
func All() []Protocol {
	return []Protocol{Completions{"vllm"}, Default(), Chat{}, Embeddings{}}
}

// Default is the protocol unless another is asked for.
func Default() Protocol { return Completions{"openai"} }

// Named is the protocol of a name, nil for none.
func Named(name string) Protocol { return first(func(t Traits) bool { return t.Name == name }) }

// Holding is the first protocol whose requests can hold prompts of one of some forms, nil for none.
func Holding(forms datasets.Forms) Protocol {
	return first(func(t Traits) bool { return t.Forms.Overlap(forms) })
}

func first(wanted func(Traits) bool) Protocol {
	for _, p := range All() {
		if wanted(p.Traits()) {
			return p
		}
	}
	return nil
}

// Names are those of the protocols whose requests can hold prompts of one of some forms, as in "vllm, openai or openai-chat"; of all
// for 0.
func Names(forms datasets.Forms) string {
	var names []string
	for _, p := range All() {
		if t := p.Traits(); forms == 0 || t.Forms.Overlap(forms) {
			names = append(names, t.Name)
		}
	}
	last := max(0, len(names)-1)
	return strings.TrimPrefix(strings.Join(names[:last], ", ")+" or "+strings.Join(names[last:], ""), " or ")
}

// Accepts is an error if the protocol cannot send a turn.
func (t Traits) Accepts(turn *datasets.Turn) error {
	switch {
	case turn.TokenIDs != nil && !t.Forms.Overlap(datasets.AsTokenIDs):
		return fmt.Errorf("backend %s cannot send token ids; use --backend %s, or a data set of texts", t.Name, Default().Traits().Name)
	case turn.Batch != nil && !t.Forms.Overlap(datasets.AsBatch):
		return fmt.Errorf("backend %s cannot send several prompts in a request", t.Name)
	}
	return nil
}
