package simulator

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

type responsesRequest struct {
	sampling
	Input              *responsesInput `json:"input"`
	Instructions       *string         `json:"instructions"`
	MaxOutputTokens    *int            `json:"max_output_tokens"` // null means as many as fit
	Include            []string        `json:"include"`
	TopLogprobs        int             `json:"top_logprobs"`
	ChatTemplateKwargs struct {
		EnableThinking bool `json:"enable_thinking"` // the first third of the answer is reasoning
	} `json:"chat_template_kwargs"`
}

// responsesInput is the "input" field: a text, or a list of items, of which only messages are simulated.
type responsesInput []message

func (in *responsesInput) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*in = responsesInput{{Role: "user", Content: content(text)}}
		return nil
	}
	var items []struct {
		Type    string       `json:"type"`
		Role    string       `json:"role"`
		Content inputContent `json:"content"`
	}
	if err := json.Unmarshal(raw, &items); err != nil {
		return errors.New("input: must be a text or a list of messages: " + err.Error())
	}
	for _, item := range items {
		if item.Type != "" && item.Type != "message" {
			return errors.New("input: only items of type message are simulated, got " + strconv.Quote(item.Type))
		}
		*in = append(*in, message{item.Role, content(item.Content)})
	}
	return nil
}

// outputLogprobs is the member of "include" that asks for log probabilities.
const outputLogprobs = "message.output_text.logprobs"

func (s *Server) responses(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	var request responsesRequest
	if err := s.read(w, r, &request); err != nil {
		return err
	}
	if request.Input == nil {
		return badRequest("input", "input is missing")
	}
	if request.TopLogprobs < 0 || request.TopLogprobs > maxLogprobs {
		return badRequest("top_logprobs", "top_logprobs must be between 0 and %d, got %d", maxLogprobs,
			request.TopLogprobs)
	}
	messages := []message(*request.Input)
	if request.Instructions != nil {
		messages = append([]message{{"system", content(*request.Instructions)}}, messages...)
	}
	ids, err := chatTokens(messages, true)
	if err != nil {
		return err
	}
	request.Input = nil
	request.thinks = request.ChatTemplateKwargs.EnableThinking
	return s.respond(w, r, a, ids, request.MaxOutputTokens, request.sampling,
		&responseEvents{request: request, output: []any{}})
}

// responseEvents is the dialect of OpenAI's Responses API: named events, numbered from 0, about items of output that
// begin, grow and end. As in vLLM, the last event is response.completed, even where the answer was cut at its limit and
// its status is incomplete.
type responseEvents struct {
	request responsesRequest
	sent    int           // events
	output  []any         // items that are complete
	item    *responseItem // the one that grows, nil before the first
}

// responseItem is an item of output: a message, or the reasoning before it.
type responseItem struct {
	id, kind string
	text     strings.Builder
	logprobs []chatLogprob // of a message
}

type fields map[string]any // of an event: JSON sorts them, as vLLM's are sorted

func (*responseEvents) kind() string { return "resp_" }

func (d *responseEvents) send(out *events, name string, event fields) error {
	event["type"], event["sequence_number"] = name, d.sent
	d.sent++
	return out.send(name, event)
}

func (d *responseEvents) open(g *generation, out *events) error {
	begun := d.response(g, "in_progress", nil)
	if err := d.send(out, "response.created", fields{"response": begun}); err != nil {
		return err
	}
	return d.send(out, "response.in_progress", fields{"response": begun})
}

func (d *responseEvents) step(g *generation, out *events, tokens []token) error {
	thought, said := g.split(tokens)
	if err := d.grow(g, out, "reasoning", thought); err != nil {
		return err
	}
	return d.grow(g, out, "message", said)
}

// grow adds tokens to the item of that kind; it ends one of the other kind.
func (d *responseEvents) grow(g *generation, out *events, kind string, tokens []token) error {
	if len(tokens) == 0 {
		return nil
	}
	if d.item == nil || d.item.kind != kind {
		if err := d.endItem(out); err != nil {
			return err
		}
		d.item = d.newItem(g, kind)
		if err := d.send(out, "response.output_item.added",
			fields{"item": d.item.state("in_progress"), "output_index": len(d.output)}); err != nil {
			return err
		}
		if err := d.sendPart(out, "response.content_part.added", fields{"part": d.item.content()}); err != nil {
			return err
		}
	}
	delta := fields{"delta": textOf(tokens)}
	before := len(d.item.logprobs)
	d.add(g, tokens)
	if kind == "message" {
		delta["logprobs"] = d.item.logprobs[before:]
	}
	return d.sendPart(out, d.item.event()+".delta", delta)
}

// add adds tokens to the item that grows.
func (d *responseEvents) add(g *generation, tokens []token) {
	d.item.text.WriteString(textOf(tokens))
	if d.item.kind == "message" && slices.Contains(d.request.Include, outputLogprobs) {
		d.item.logprobs = append(d.item.logprobs, g.chatLogprobs(tokens, d.request.TopLogprobs).Content...)
	}
}

// sendPart sends an event about the content of the item that grows.
func (d *responseEvents) sendPart(out *events, name string, event fields) error {
	event["item_id"], event["output_index"], event["content_index"] = d.item.id, len(d.output), 0
	return d.send(out, name, event)
}

func (d *responseEvents) endItem(out *events) error {
	if d.item == nil {
		return nil
	}
	done := fields{"text": d.item.text.String()}
	if d.item.kind == "message" {
		done["logprobs"] = []any{}
	}
	if err := d.sendPart(out, d.item.event()+".done", done); err != nil {
		return err
	}
	if err := d.sendPart(out, "response.content_part.done", fields{"part": d.item.content()}); err != nil {
		return err
	}
	whole := d.item.state("completed")
	if err := d.send(out, "response.output_item.done", fields{"item": whole, "output_index": len(d.output)}); err !=
		nil {
		return err
	}
	d.output, d.item = append(d.output, whole), nil
	return nil
}

func (d *responseEvents) close(g *generation, out *events) error {
	if err := d.endItem(out); err != nil || g.suffers(FaultNoDone) {
		return err
	}
	usage := d.usage(g)
	if g.suffers(FaultNoUsage) {
		usage = nil
	}
	return d.send(out, "response.completed", fields{"response": d.response(g, d.status(g), usage)})
}

func (d *responseEvents) fail(_ *generation, out *events, problem *apiError) error {
	return d.send(out, "error", fields{"code": strconv.Itoa(problem.status), "message": problem.message, "param": nil})
}

func (d *responseEvents) whole(g *generation, tokens []token) any {
	thought, said := g.split(tokens)
	for _, part := range []struct {
		kind   string
		tokens []token
	}{{"reasoning", thought}, {"message", said}} {
		if len(part.tokens) > 0 {
			d.item = d.newItem(g, part.kind)
			d.add(g, part.tokens)
			d.output = append(d.output, d.item.state("completed"))
		}
	}
	return d.response(g, d.status(g), d.usage(g))
}

// status is that of the response at its end.
func (d *responseEvents) status(g *generation) string {
	if g.seq.reason == "length" {
		return "incomplete"
	}
	return "completed"
}

func (d *responseEvents) newItem(g *generation, kind string) *responseItem {
	prefix := "msg_"
	if kind == "reasoning" {
		prefix = "rs_"
	}
	return &responseItem{id: prefix + strings.TrimPrefix(g.id, d.kind()), kind: kind, logprobs: []chatLogprob{}}
}

// event is the beginning of the names of the item's events.
func (i *responseItem) event() string {
	if i.kind == "reasoning" {
		return "response.reasoning_text"
	}
	return "response.output_text"
}

// content is what the item has so far. As in vLLM, it begins with an empty list of log probabilities, and ends with
// null where there are none.
func (i *responseItem) content() fields {
	text := i.text.String()
	if i.kind == "reasoning" {
		return fields{"type": "reasoning_text", "text": text}
	}
	c := fields{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": i.logprobs}
	if text != "" && len(i.logprobs) == 0 {
		c["logprobs"] = nil
	}
	return c
}

// state describes the item; it has no content before its end.
func (i *responseItem) state(status string) fields {
	state := fields{"id": i.id, "type": i.kind, "status": status, "content": []any{}}
	if status == "completed" {
		state["content"] = []any{i.content()}
	}
	if i.kind == "reasoning" {
		state["summary"] = []any{}
	} else {
		state["role"], state["phase"] = "assistant", nil
	}
	return state
}

func (d *responseEvents) usage(g *generation) fields {
	n := g.arrival.OutputTokens
	turns := []int{} // of tools that the server calls
	return fields{
		"input_tokens": g.seq.prompt, "output_tokens": n, "total_tokens": g.seq.prompt + n,
		"input_tokens_details": fields{
			"cached_tokens": g.cached(), "cache_write_tokens": 0, "input_tokens_per_turn": turns,
			"cached_tokens_per_turn": turns,
		},
		"output_tokens_details": fields{
			"reasoning_tokens": min(n, g.thoughts), "tool_output_tokens": 0, "output_tokens_per_turn": turns,
			"tool_output_tokens_per_turn": turns,
		},
	}
}

// response is the object that is the answer, and that the first and the last event carry.
func (d *responseEvents) response(g *generation, status string, usage fields) fields {
	r := fields{
		"id": g.id, "object": "response", "created_at": g.created, "model": g.model, "status": status,
		"output": slices.Clone(d.output), "usage": usage,
		"instructions": d.request.Instructions, "max_output_tokens": g.room, "temperature": 1.0, "top_p": 1.0,
		"presence_penalty":  0.0,
		"frequency_penalty": 0.0, "parallel_tool_calls": true, "tool_choice": "none", "tools": []any{},
		"background":   false,
		"service_tier": "auto", "truncation": "disabled", "incomplete_details": nil, "metadata": nil,
		"max_tool_calls":       nil,
		"previous_response_id": nil, "prompt": nil, "reasoning": nil, "text": nil, "top_logprobs": nil, "user": nil,
		"input_messages": nil, "output_messages": nil, "kv_transfer_params": nil, "ec_transfer_params": nil,
	}
	if status == "incomplete" {
		r["incomplete_details"] = fields{"reason": "max_output_tokens"}
	}
	if m := g.requestMetrics(); m != nil {
		m.Speculation = absent
		r["metrics"] = m
	}
	return r
}
