package protocol

import (
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
)

func TestOllamaBody(t *testing.T) {
	for name, c := range map[string]struct {
		turn  datasets.Turn
		extra []Field
		want  string
	}{
		"sampling in the options": {datasets.Turn{Text: "hé", MaxTokens: 7},
			[]Field{{"temperature", "0.5"}, {"think", "false"}, {"options", `{"num_ctx": 99, "num_predict": 8}`}},
			`{"model": "m", "messages": [{"role": "user", "content": "h\u00e9"}], "stream": true, "think": false, ` +
				`"options": {"num_predict": 8, "temperature": 0.5, "num_ctx": 99}}`},
		"no length": {datasets.Turn{Text: "a"}, nil,
			`{"model": "m", "messages": [{"role": "user", "content": "a"}], "stream": true, "options": {}}`},
		"pictures beside the text": {datasets.Turn{MaxTokens: 1, Messages: []byte(
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},` +
				`{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]`)}, nil,
			`{"model": "m", "messages": [{"role": "user", "content": "a\nb", "images": ["QUJD"]}], "stream": true, ` +
				`"options": {"num_predict": 1}}`},
	} {
		got := assert.Must(Ollama{}.Body(nil, Ask{Model: "m", Turn: &c.turn, Extra: c.extra}))(t)
		assert.Equal(t, string(got), c.want, "%s", name)
	}
}

func TestOllamaPictureAtURL(t *testing.T) {
	turn := datasets.Turn{Messages: []byte(`[{"content":[{"type":"image_url","image_url":{"url":"http://h/a.png"}}]}]`)}
	_, err := Ollama{}.Body(nil, Ask{Model: "m", Turn: &turn})
	assert.Complains(t, err, "http://h/a.png", "--custom-ensure-client-side-data")
}

func TestOllamaStream(t *testing.T) {
	r := reader()
	var text, thought string
	var usage Usage
	chunks, calls, finish := 0, 0, ""
	for _, line := range []string{
		`{"model":"m","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}`,
		`{"model":"m","message":{"role":"assistant","content":"He"},"done":false}`,
		`{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f"}}]},` +
			`"done":false}`,
		`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"length",` +
			`"prompt_eval_count":26,"prompt_eval_duration":130079000,"eval_count":298}`,
	} {
		m, err := Ollama{}.Event(r, []byte(line))
		assert.Fine(t, err)
		text, thought = text+string(m.Answer), thought+string(m.Reasoning)
		usage.Merge(m.Usage)
		if calls += m.Calls; m.Counts {
			chunks++
		}
		finish += string(m.Finish)
		r.Release()
	}
	want := Usage{Present: true, Input: 26, Output: 298, Cached: -1, Reasoning: -1}
	if text != "He" || finish != "length" || thought != "hm" || chunks != 3 || calls != 1 || usage != want ||
		r.Clocks.Prefill.Microseconds() != 130079 {
		t.Errorf("text %q, thought %q, %d chunks, %d calls, usage %+v, clocks %+v", text, thought, chunks, calls, usage,
			r.Clocks)
	}
	m, err := Ollama{}.Event(r, []byte(`{"error":"model 'x' not found"}`))
	if err != nil || m.Failure == "" {
		t.Errorf("an error is read as %+v, %v", m, err)
	}
}
