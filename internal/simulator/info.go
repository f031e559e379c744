package simulator

import "net/http"

// simulatedVersion is the answer of /version: the form of vLLM's, but none of its versions.
const simulatedVersion = "0.0.0+simulator"

// health answers 200 without a body while the engine can be used.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) *apiError {
	select {
	case <-s.engine.quit:
		return unavailable(errStopped)
	default:
		w.WriteHeader(http.StatusOK)
		return nil
	}
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

func (s *Server) models(w http.ResponseWriter, _ *http.Request) *apiError {
	type object map[string]any
	created := s.created.Unix()
	permission := object{
		"id": "modelperm-" + s.profile.Model, "object": "model_permission", "created": created, "organization": "*", "group": nil,
		"allow_create_engine": false, "allow_sampling": true, "allow_logprobs": true, "allow_search_indices": false,
		"allow_view": true, "allow_fine_tuning": false, "is_blocking": false,
	}
	card := object{
		"id": s.profile.Model, "object": "model", "created": created, "owned_by": "benchtop", "root": s.profile.Model, "parent": nil,
		"max_model_len": s.profile.MaxModelLen, "permission": []object{permission},
	}
	writeJSON(w, http.StatusOK, object{"object": "list", "data": []object{card}})
	return nil
}
