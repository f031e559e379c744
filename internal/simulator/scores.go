package simulator

import (
	"cmp"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
)

// scoreInput is a text, or an object whose content has parts, as that of a message.
type scoreInput struct {
	text  string
	parts json.RawMessage // nil for a text
	ids   prompt
}

func (t *scoreInput) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &t.text) == nil && raw[0] == '"' {
		t.ids = encode(t.text)
		return nil
	}
	var of struct {
		Content json.RawMessage `json:"content"`
	}
	var c content
	if json.Unmarshal(raw, &of) != nil || of.Content == nil || c.UnmarshalJSON(of.Content) != nil {
		return errors.New("must be a text, or an object with content")
	}
	t.parts, t.ids = of.Content, encode(string(c))
	return nil
}

// scorables is one of them, or a list.
type scorables []scoreInput

func (l *scorables) UnmarshalJSON(raw []byte) error {
	var one scoreInput
	if one.UnmarshalJSON(raw) == nil {
		*l = scorables{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]scoreInput)(l))
}

// rerank orders documents by their relevance to a query. The engine reads each with the query before it, as a
// cross-encoder does.
func (s *Server) rerank(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	var request struct {
		pooledRequest
		Query     *scoreInput `json:"query"`
		Documents scorables   `json:"documents"`
		TopN      int         `json:"top_n"` // 0 for all
	}
	if err := s.readPooled(w, r, &request); err != nil {
		return err
	}
	switch {
	case request.Query == nil:
		return badRequest("query", "query is missing")
	case len(request.Documents) == 0:
		return badRequest("documents", "At least one text_pair element must be given")
	case request.TopN < 0:
		return badRequest("top_n", "top_n must not be negative, got %d", request.TopN)
	}
	done, err := s.pool(r, a, "score-", request.pooledRequest, pairs(scorables{*request.Query}, request.Documents))
	if err != nil {
		return err
	}
	type document struct {
		Text       *string         `json:"text"`
		MultiModal json.RawMessage `json:"multi_modal"`
	}
	type result struct {
		Index    int      `json:"index"`
		Document document `json:"document"`
		Score    float64  `json:"relevance_score"`
	}
	var results []result
	for i, d := range request.Documents {
		found := result{Index: i, Document: document{MultiModal: d.parts}, Score: score(done.prompts[i])}
		if d.parts == nil {
			found.Document.Text = &d.text
		}
		results = append(results, found)
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(b.Score, a.Score) })
	if request.TopN > 0 {
		results = results[:min(request.TopN, len(results))]
	}
	writeJSON(w, http.StatusOK, struct {
		ID      string         `json:"id"`
		Model   string         `json:"model"`
		Usage   map[string]int `json:"usage"`
		Results []result       `json:"results"`
	}{done.id, done.model, map[string]int{"prompt_tokens": done.tokens, "total_tokens": done.tokens}, results})
	return nil
}

// score compares texts, one by one or the first with all of the second.
func (s *Server) score(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	var request struct {
		pooledRequest
		Queries   scorables `json:"queries"`
		Documents scorables `json:"documents"`
		Items     scorables `json:"items"`
		Text1     scorables `json:"text_1"`
		Text2     scorables `json:"text_2"`
		Data1     scorables `json:"data_1"`
		Data2     scorables `json:"data_2"`
	}
	if err := s.readPooled(w, r, &request); err != nil {
		return err
	}
	first := slices.Concat(request.Queries, request.Text1, request.Data1)
	second := slices.Concat(request.Documents, request.Items, request.Text2, request.Data2)
	switch {
	case len(first) == 0 || len(second) == 0:
		return badRequest("", "queries and documents, text_1 and text_2, or data_1 and data_2 must be given")
	case len(first) > 1 && len(first) != len(second):
		return badRequest("", "Input lengths must be either 1:1, 1:N or N:N")
	}
	done, err := s.pool(r, a, "score-", request.pooledRequest, pairs(first, second))
	if err != nil {
		return err
	}
	type result struct {
		Index  int     `json:"index"`
		Object string  `json:"object"`
		Score  float64 `json:"score"`
	}
	var data []result
	for i, ids := range done.prompts {
		data = append(data, result{i, "score", score(ids)})
	}
	answer := done.answer()
	answer.Data = data
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// pairs joins each of second with its counterpart, or with the only one of first.
func pairs(first, second scorables) (prompts []prompt) {
	for i, b := range second {
		prompts = append(prompts, slices.Concat(first[min(i, len(first)-1)].ids, b.ids))
	}
	return prompts
}

// score is drawn from the tokens of a pair: 0 to 1.
func score(ids []int) float64 { return rand.New(rand.NewPCG(2, fingerprint(ids, "", 0))).Float64() }
