// Package protocol writes the bodies of requests to the endpoints of a server, and reads their answers: the events of a
// stream, or an answer in one piece. It leaves out how the bytes travel and when.
package protocol

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/datasets"
	"benchtop/internal/hf/media"
	"benchtop/internal/text"
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
	Name        string      // the value of --backend: vLLM's name where vLLM has the protocol
	Path        string      // of the API, unless another is given
	Suffixes    []string    // a URL for the API ends in one of these
	ContentType string      // of a request's body
	Header      [][2]string // fixed headers of a request beside the content type
	// the environment variable with the API key that KeyHeader carries; "" for OPENAI_API_KEY, a bearer token
	KeyFrom     string
	KeyHeader   string
	Streams     bool   // an answer is a stream of events unless the request asks otherwise
	Lines       bool   // each line of the stream is an event
	Chunk       string // the kind of event that counts as a chunk, in words; "" where answers do not stream
	Ending      string // the end of a complete stream, for error messages
	Member      string // of a whole answer that holds its output
	LengthField string // the field of a body that bounds the length of an answer; "" where answers have no length
	// FullLength: servers of the protocol know ignore_eos, which makes answers as long as asked for.
	FullLength bool
	Finishes   bool           // an answer ends with a finish reason
	Forms      datasets.Forms // in which a request can hold its prompts
	// Only is the content of a request that cannot hold a text, in words, and DataSet the name of the data set that has
	// it; "" for others.
	Only, DataSet string
	// Templates: the server writes the prompt by the model's chat template.
	Templates bool
	// Logprobs: the body has the field of --logprobs.
	Logprobs bool
	// Tokens are the fields of a body that ask for the same answer again to the same prompt, and for its tokens and
	// their log probabilities; none where there are none.
	Tokens []Field
	// RunningUsage is the field of a body that asks for the usage so far in every event; one without a name where there
	// is none.
	RunningUsage Field
}

// Ask is one request to a model.
type Ask struct {
	Model string
	ID    string // of the request, "" for none
	Turn  *datasets.Turn
	// Extra fields of the body, set behind the protocol's own and replacing those of the same name where they stand.
	// Their values are as Python writes them. Any may be replaced; null leaves an OwnField out and is sent in any
	// other.
	Extra []Field
}

// All are the protocols there are.
func All() []Protocol {
	all := []Protocol{Completions{"vllm"}, Default(), Chat{}, Responses{}, Messages{}, Ollama{}, Audio{}}
	for i := range poolings {
		all = append(all, Pooling{poolings[i].name})
	}
	for _, engine := range []string{"sglang", "lmdeploy", "llama.cpp", "tgi"} {
		all = append(all, Completions{engine})
	}
	return all
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

// Names are those of the protocols whose requests can hold prompts of one of some forms, as in "vllm, openai or
// openai-chat"; of all for 0.
func Names(forms datasets.Forms) string {
	return text.Join(holding(forms), " or ")
}

// List are the names of all.
func List() []string { return holding(0) }

func holding(forms datasets.Forms) (names []string) {
	for _, p := range All() {
		if t := p.Traits(); forms == 0 || t.Forms.Overlap(forms) {
			names = append(names, t.Name)
		}
	}
	return names
}

// CheckEndpoint is an error if a path cannot be that of the API. "" stands for the protocol's own.
func (t Traits) CheckEndpoint(path string) error {
	path, _, _ = strings.Cut(path, "?") // Azure's has its version there, others a key
	if path == "" || slices.ContainsFunc(t.Suffixes, func(s string) bool { return strings.HasSuffix(path, s) }) {
		return nil
	}
	return fmt.Errorf("endpoint %s: for backend %s it must end in %s", path, t.Name, strings.Join(t.Suffixes, " or "))
}

// Accepts is an error if the protocol cannot send a turn.
func (t Traits) Accepts(turn *datasets.Turn) error {
	switch {
	case turn.TokenIDs != nil && !t.Forms.Overlap(datasets.AsTokenIDs):
		return fmt.Errorf("backend %s cannot send token ids; use --backend %s, or a data set of texts", t.Name,
			Default().Traits().Name)
	case turn.Batch != nil && !t.Forms.Overlap(datasets.AsBatch|datasets.AsDocuments):
		return fmt.Errorf("backend %s cannot send several prompts in a request", t.Name)
	// only the text of them would be sent
	case turn.Messages != nil && !t.Templates && t.Forms.Overlap(datasets.AsMedia):
		return fmt.Errorf("backend %s sends a text or a picture and no chat messages; give the picture by "+
			"image_files, or use --backend openai-embeddings-clip", t.Name)
	case t.Forms == datasets.AsDocuments && len(turn.Batch) < 2, t.Forms == datasets.AsAudio && turn.Audio == nil:
		return t.Lacking()
	}
	return nil
}

// Lacking is the error for a request that has not the content that the protocol sends; see Only.
func (t Traits) Lacking() error {
	return fmt.Errorf("backend %s sends %s; use --dataset-name %s, or another backend", t.Name, t.Only, t.DataSet)
}

// Inputs is the number of inputs in a request that carries several; 0 for one. A query is none.
func (t Traits) Inputs(turn *datasets.Turn) int {
	if t.Forms == datasets.AsDocuments {
		return max(0, len(turn.Batch)-1)
	}
	return len(turn.Batch)
}

// Smallest is a request of a token or two, for a test of the server. maxTokens bounds its answer.
func Smallest(p Protocol, maxTokens int) datasets.Turn {
	hi := datasets.Turn{Text: "Hi", InputTokens: 1, MaxTokens: maxTokens}
	switch p.Traits().Forms {
	case datasets.AsDocuments:
		return datasets.Turn{Batch: []datasets.Turn{hi, hi}, InputTokens: 2}
	case datasets.AsAudio:
		hi.Audio = media.Silence(100 * time.Millisecond)
	}
	return hi
}
