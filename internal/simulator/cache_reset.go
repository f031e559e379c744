package simulator

import "net/http"

// cacheReset is the answer to a reset of the prefix cache: no success while some sequence holds blocks.
type cacheReset struct {
	Success bool `json:"success"`
}

func (s *Server) resetPrefixCache(w http.ResponseWriter, _ *http.Request) *apiError {
	writeJSON(w, http.StatusOK, cacheReset{Success: s.engine.forgetPrefixes()})
	return nil
}

// forgetPrefixes empties the prefix cache, unless a sequence is running.
func (e *engine) forgetPrefixes() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sched.pool.forget()
}
