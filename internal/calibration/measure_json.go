package calibration

import (
	"encoding/json"
	"fmt"

	"benchtop/metrics"
)

// The words of a verdict in files.
const (
	verdictOK      = "ok"
	verdictLimited = "limited"
)

// plainResult is a Result without its own form as JSON.
type plainResult Result

// resultJSON is the form of a Result in files: without both if it was not judged, with an empty list of reasons if it is ok.
type resultJSON struct {
	plainResult
	Verdict string   `json:"verdict,omitempty"`
	Why     []string `json:"why,omitzero"`
}

// MarshalJSON writes the verdict as a word, with its reasons beside it.
func (r Result) MarshalJSON() ([]byte, error) {
	j := resultJSON{plainResult: plainResult(r)}
	switch {
	case r.Verdict.Limited():
		j.Verdict, j.Why = verdictLimited, r.Verdict.Why
	case r.Judged:
		j.Verdict, j.Why = verdictOK, []string{}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Result) UnmarshalJSON(b []byte) error {
	j := resultJSON{plainResult: plainResult(*r)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*r = Result(j.plainResult)
	r.Verdict, r.Judged = metrics.Verdict{}, j.Verdict != ""
	limited := len(j.Why) > 0
	switch {
	case limited && j.Verdict == verdictLimited:
		r.Verdict.Why = j.Why
	case limited || j.Verdict != verdictOK && j.Verdict != "":
		return fmt.Errorf("verdict %.20q with %d reasons: expected %q without any, or %q with some", j.Verdict, len(j.Why), verdictOK, verdictLimited)
	}
	return nil
}
