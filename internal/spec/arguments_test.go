package spec

import (
	"testing"

	"benchtop/internal/assert"
)

// The general lengths stand in the place of those of the data sets, as vLLM writes them, where it does.
func TestArgumentsOfGeneralLengths(t *testing.T) {
	o := New()
	assert.Fine(t, o.Parse([]string{"--input-len", "9", "--output-len", "4", "--sharegpt-output-len", "5"}))
	got := map[string]any{}
	for _, a := range o.Arguments() {
		got[a.Name] = a.Value
	}
	for name, want := range map[string]any{
		"random_input_len": int64(9), "random_output_len": int64(4), "custom_output_len": int64(4),
		"spec_bench_output_len":        int64(4),
		"prefix_repetition_output_len": int64(4), "sharegpt_output_len": int64(4), "hf_output_len": nil,
		"sonnet_output_len": int64(150), "speed_bench_output_len": int64(4096), "sonnet_input_len": int64(550),
	} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
}
