package simulator

import (
	"net/http"
	"time"
)

// ollamaRequest has the fields of Ollama's chat endpoint that matter here.
type ollamaRequest struct {
	modelName
	Stream   *bool     `json:"stream"` // nil for true
	Messages []message `json:"messages"`
	Think    any       `json:"think"` // not false and not nil: the first third of the answer is thinking
	Options  struct {
		NumPredict *int `json:"num_predict"`
	} `json:"options"`
}

func (s *Server) ollama(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	var request ollamaRequest
	if err := s.read(w, r, &request); err != nil {
		return err
	}
	ids, err := chatTokens(request.Messages, true)
	if err != nil {
		return err
	}
	p := sampling{modelName: request.modelName, Stream: request.Stream == nil || *request.Stream,
		thinks: request.Think != nil && request.Think != false}
	if p.Stream {
		w.Header().Set("Content-Type", "application/x-ndjson")
	}
	return s.respond(w, r, a, ids, request.Options.NumPredict, p, ollamaLines{})
}

// ollamaLines is the dialect of Ollama: an object in each line.
type ollamaLines struct{}

type ollamaMessage struct {
	Role     string `json:"role"`
	Content  string `json:"content"`
	Thinking string `json:"thinking,omitempty"`
}

// ollamaLine is a part of an answer; the counts are those of the last one.
type ollamaLine struct {
	Model          string        `json:"model"`
	CreatedAt      time.Time     `json:"created_at"`
	Message        ollamaMessage `json:"message"`
	Done           bool          `json:"done"`
	DoneReason     string        `json:"done_reason,omitempty"`
	PromptCount    int           `json:"prompt_eval_count,omitempty"`
	PromptDuration time.Duration `json:"prompt_eval_duration,omitempty"`
	Count          int           `json:"eval_count,omitempty"`
}

func (ollamaLines) kind() string { return "" }

func (ollamaLines) open(*generation, *events) error { return nil }

func (ollamaLines) step(g *generation, out *events, tokens []token) error {
	return out.line(ollamaLineOf(g, tokens))
}

func ollamaLineOf(g *generation, tokens []token) ollamaLine {
	line := ollamaLine{Model: g.model, CreatedAt: time.Now(), Message: ollamaMessage{Role: "assistant"}}
	if len(tokens) > 0 {
		thought, said := g.split(tokens)
		line.Message.Content, line.Message.Thinking = textOf(said), textOf(thought)
	}
	return line
}

func (d ollamaLines) close(g *generation, out *events) error {
	if g.suffers(FaultNoDone) {
		return nil
	}
	return out.line(ollamaEnd(g, nil))
}

// ollamaEnd is the last line.
func ollamaEnd(g *generation, tokens []token) ollamaLine {
	end := ollamaLineOf(g, tokens)
	if end.Done, end.DoneReason = true, g.seq.reason; !g.suffers(FaultNoUsage) {
		end.PromptCount, end.Count = g.seq.prompt, g.arrival.OutputTokens
	}
	return end
}

func (ollamaLines) fail(_ *generation, out *events, problem *apiError) error {
	return out.line(map[string]string{"error": problem.detail().Message})
}

func (ollamaLines) whole(g *generation, tokens []token) any { return ollamaEnd(g, tokens) }
