package simulator

import "net/http"

// dialect is the form in which an endpoint writes an answer: the tokens of each step as events of a stream, or all of
// them as one body. It belongs to one request, and keeps what an event has to know of earlier ones. An error of its
// methods means that the client is gone.
type dialect interface {
	// kind is the beginning of the answer's id.
	kind() string
	// open writes the events that come with the headers, before the first token.
	open(g *generation, out *events) error
	// step writes the tokens of one step, at least one.
	step(g *generation, out *events, tokens []token) error
	// close writes what follows the last token: the usage, and the end marker. After a fault there may be fewer tokens.
	close(g *generation, out *events) error
	// fail writes an error into the stream, and its end.
	fail(g *generation, out *events, problem *apiError) error
	// whole is the answer without a stream.
	whole(g *generation, tokens []token) any
}

// respond generates an answer and writes it, as a stream if the request asks for one.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, a *arrival, prompt []int, maxTokens *int, p sampling,
	d dialect) *apiError {
	g, err := s.generate(r, a, d.kind(), prompt, maxTokens, p)
	if err != nil {
		return err
	}
	if p.Stream {
		g.stream(r.Context(), w, d)
		return nil
	}
	tokens, err := g.whole(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, d.whole(g, tokens))
	return nil
}
