package simulator

import "net/http"

// simulatedVersion is what /version says: the shape of vLLM's, and no version that it ever had.
const simulatedVersion = "0.0.0+simulator"

// health answers 200 without a body while the engine can be used.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) *apiError {
	if !s.engine.usable() {
		return unavailable(errStopped)
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) *apiError {
	writeJSON(w, http.StatusOK, map[string]string{"version": simulatedVersion})
	return nil
}

// profiler answers as a server whose profiler was enabled. There is nothing to profile.
func (s *Server) profiler(w http.ResponseWriter, _ *http.Request) *apiError {
	w.WriteHeader(http.StatusOK)
	return nil
}

type modelList struct {
	Object string      `json:"object"`
	Data   []modelCard `json:"data"`
}

type modelCard struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	Created     int64             `json:"created"` // Unix seconds
	OwnedBy     string            `json:"owned_by"`
	Root        string            `json:"root"`
	Parent      *string           `json:"parent"`
	MaxModelLen int               `json:"max_model_len"`
	Permission  []modelPermission `json:"permission"`
}

type modelPermission struct {
	ID                 string  `json:"id"`
	Object             string  `json:"object"`
	Created            int64   `json:"created"`
	AllowCreateEngine  bool    `json:"allow_create_engine"`
	AllowSampling      bool    `json:"allow_sampling"`
	AllowLogprobs      bool    `json:"allow_logprobs"`
	AllowSearchIndices bool    `json:"allow_search_indices"`
	AllowView          bool    `json:"allow_view"`
	AllowFineTuning    bool    `json:"allow_fine_tuning"`
	Organization       string  `json:"organization"`
	Group              *string `json:"group"`
	IsBlocking         bool    `json:"is_blocking"`
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) *apiError {
	created := s.created.Unix()
	writeJSON(w, http.StatusOK, modelList{Object: "list", Data: []modelCard{{
		ID: s.profile.Model, Object: "model", Created: created, OwnedBy: "benchtop", Root: s.profile.Model,
		MaxModelLen: s.profile.MaxModelLen,
		Permission: []modelPermission{{
			ID: "modelperm-" + s.profile.Model, Object: "model_permission", Created: created,
			AllowSampling: true, AllowLogprobs: true, AllowView: true, Organization: "*",
		}},
	}}})
	return nil
}
