package chattemplate

import (
	"encoding/json"
	"testing"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		`[{"role":"user","content":"a <b>\n"}]`:                                      "a <b>\n",
		`[{"role":"system","content":"be brief"},{"role":"user","content":"hello"}]`: "be brief\nhello",
		`[]`: "",
	} {
		if got, err := (Plain{}).Render(t.Context(), Input{Messages: json.RawMessage(in)}); err != nil || got != want {
			t.Errorf("%s: got %q, error %v", in, got, err)
		}
	}
	if got, err := (Plain{}).Render(t.Context(),
		Input{Messages: json.RawMessage(`[{"content":[{"type":"image"}]}]`)}); err == nil {
		t.Errorf("got %q of a picture", got)
	}
}
