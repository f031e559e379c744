package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
)

// Adapter is a LoRA adapter of the model: a name under which requests reach it. Its answers differ from the model's,
// and it shares no prefix with others; it costs nothing.
type Adapter struct {
	Name string
	Path string // of its weights, as /v1/models shows it
}

// ParseAdapter reads NAME or NAME=PATH; without a path it is the name.
func ParseAdapter(text string) (Adapter, error) {
	name, path, _ := strings.Cut(text, "=")
	a := Adapter{Name: name, Path: cmp.Or(path, name)}
	return a, a.check()
}

func (a Adapter) check() error {
	if a.Name == "" || strings.ContainsFunc(a.Name, unicode.IsSpace) {
		return fmt.Errorf("the adapter %q needs a name without blanks", a.Name)
	}
	return nil
}

// checkAdapters refuses names that stand for two models.
func (p Profile) checkAdapters() error {
	var problems []error
	seen := map[string]bool{p.Model: true}
	for _, a := range p.Adapters {
		problems = append(problems, a.check())
		if seen[a.Name] {
			problems = append(problems, fmt.Errorf("the adapter %q has the name of another model", a.Name))
		}
		seen[a.Name] = true
	}
	return errors.Join(problems...)
}

// modelName is a request for a model.
type modelName struct {
	Model string `json:"model"` // "" for the one that is served
}

func (n modelName) model() string { return n.Model }

// checkModel is an error for a model that is not served; "" stands for the profile's.
func (s *Server) checkModel(model string) *apiError {
	if model == "" || model == s.profile.Model {
		return nil
	}
	for _, a := range s.profile.Adapters {
		if a.Name == model {
			return nil
		}
	}
	return &apiError{status: http.StatusNotFound, param: "model", message: "The model `" + model + "` does not exist."}
}

// models lists the model and, as vLLM does, each adapter with the model as its parent.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) *apiError {
	type object map[string]any
	created := s.created.Unix()
	card := func(id, root string, parent, longest any) object {
		return object{
			"id": id, "object": "model", "created": created, "owned_by": "benchtop", "root": root, "parent": parent,
			"max_model_len": longest,
			"permission": []object{{
				"id": "modelperm-" + id, "object": "model_permission", "created": created, "organization": "*",
				"group":               nil,
				"allow_create_engine": false, "allow_sampling": true, "allow_logprobs": true,
				"allow_search_indices": false,
				"allow_view":           true, "allow_fine_tuning": false, "is_blocking": false,
			}},
		}
	}
	cards := []object{card(s.profile.Model, s.profile.Model, nil, s.profile.MaxModelLen)}
	for _, a := range s.profile.Adapters {
		cards = append(cards, card(a.Name, a.Path, s.profile.Model, nil))
	}
	writeJSON(w, http.StatusOK, object{"object": "list", "data": cards})
	return nil
}
