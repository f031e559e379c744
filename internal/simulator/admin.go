package simulator

import "net/http"

// health answers 200 without a body while the engine can be used.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) *apiError {
	select {
	case <-s.engine.quit:
		return unavailable(errStopped)
	default:
		return empty(w, nil)
	}
}

// simulatedVersion is the answer of /version: the form of vLLM's, but none of its versions.
const simulatedVersion = "0.0.0+simulator"

func (s *Server) version(w http.ResponseWriter, _ *http.Request) *apiError {
	writeJSON(w, http.StatusOK, map[string]string{"version": simulatedVersion})
	return nil
}

// empty answers 200 without a body. It serves what there is nothing to do for: a profiler that is enabled, and the
// caches of media, since each item is computed anew.
func empty(w http.ResponseWriter, _ *http.Request) *apiError {
	w.WriteHeader(http.StatusOK)
	return nil
}

// resetPrefixCache answers 200 in any case. As in vLLM, it fails while a sequence holds blocks, and the answer says so.
func (s *Server) resetPrefixCache(w http.ResponseWriter, _ *http.Request) *apiError {
	writeJSON(w, http.StatusOK, map[string]bool{"success": s.engine.forgetPrefixes()})
	return nil
}
