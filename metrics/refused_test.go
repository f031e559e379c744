package metrics

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// Fields count as refused where the server calls them unknown, not where their names merely occur.
func TestRefusedFields(t *testing.T) {
	sent := []string{"repetition_penalty", "logprobs", "stream_options", "ignore_eos", "temperature"}
	for _, c := range []struct {
		name   string
		status int
		words  string
		want   string
	}{
		{"a set", 422, `{"detail":"Unexpected fields in the request: {'ignore_eos', 'repetition_penalty'}"}`,
			"repetition_penalty ignore_eos"},
		{"pydantic", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","ignore_eos"],"msg":"Extra inputs are ` +
			`not permitted","input":true}]}`, "ignore_eos"},
		{"one at a time", 400, `{"error":{"message":"Unrecognized request argument supplied: ignore_eos"}}`,
			"ignore_eos"},
		{"a list of what is known", 422,
			"unknown field `ignore_eos`, expected one of `model`, `temperature`, `logprobs`", "ignore_eos"},
		{"camel case", 400, `property 'repetition_penalty' is unsupported`, "repetition_penalty"},
		{"a value", 400, `temperature must be non-negative, got -1.0.`, ""},
		{"a part of a name", 400, `unknown field ignore_eos_token and top_logprobs`, ""},
		{"missing", 422,
			`{"detail":[{"type":"missing","loc":["body","input"],"msg":"Field required","input":{"ignore_eos":true}}]}`,
			""},
		{"not known either", 400, `unknown field frobnicate`, ""},
		{"another status", 500, `unknown field ignore_eos`, ""},
	} {
		if got := RefusedFields(sent, c.status, c.words); strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Fields of several error texts are joined.
func TestRefusedInTheRun(t *testing.T) {
	r := Report{
		Plan: Plan{OptionalFields: []string{"repetition_penalty", "ignore_eos"}},
		Failures: []FailureCount{
			{Kind: FailedStatus, Status: 400, Examples: []string{"unknown field ignore_eos", "the prompt is too long",
				"unknown field repetition_penalty"}},
			{Kind: FailedReset},
		},
	}
	assert.EqualAll(t, r.Refused(), r.Plan.OptionalFields, "Refused")
}
