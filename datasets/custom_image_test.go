package datasets

import (
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/hf/numpy"
)

// imagesIn samples every row of a file in its order.
func imagesIn(t *testing.T, change func(*customImage), lines ...string) ([]Conversation, error) {
	t.Helper()
	o := defaults[customImage]("custom_image")
	o.Path = filepath.Join(t.TempDir(), "f.jsonl")
	o.Prompts, o.DisableShuffle = 0, true
	if change != nil {
		change(&o)
	}
	write(t, o.Path, strings.Join(lines, "\n"))
	list, err := made(t.Context(), o, Text{Counter: byWords{}}, numpy.NewStreams(0))
	if err != nil {
		return nil, err
	}
	return drain(t, list), nil
}

func TestCustomImageRows(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"neither", `{}`, `either "prompt" and "image_files" or "content" must be there`},
		{"no image_files", `{"prompt": "x"}`, `either "prompt" and "image_files" or "content" must be there`},
		{"no prompt", `{"image_files": ["x"], "content": null}`,
			`either "prompt" and "image_files" or "content" must be there`},
		{"prompt no string", `{"prompt": 7, "image_files": ["x"]}`, `expected "prompt" to be a string: got a number`},
		{"image_files no array", `{"prompt": "x", "image_files": "x"}`,
			`expected "image_files" to be an array: got a string`},
		{"image_files empty", `{"prompt": "x", "image_files": []}`, `"image_files" is empty`},
		{"image_files no strings", `{"prompt": "x", "image_files": ["a", {}]}`,
			`expected "image_files" to be a URL or a path: got an object`},
		{"content no array", `{"content": "x"}`, `expected "content" to be an array: got a string`},
		{"content empty", `{"content": []}`, `"content" is empty`},
		{"part no object", `{"content": ["x"]}`, `part 1 of "content": expected an object: got a string`},
		{"unknown part", `{"content": [{"type": "text", "text": "x"}, {"type": "audio"}]}`,
			`part 2 of "content": expected "type" to be text, image or image_url: got "audio"`},
		{"part without type", `{"content": [{}]}`, `expected "type" to be text, image or image_url: got nothing`},
		{"text no string", `{"content": [{"type": "text"}]}`, `expected "text" to be a string: got nothing`},
		{"image no string", `{"content": [{"type": "image", "image": {}}]}`,
			`expected "image" to be a URL or a path: got an object`},
		{"image_url no string", `{"content": [{"type": "image_url", "image_url": 7}]}`,
			`expected "image_url" to be a URL or a path: got a number`},
		{"image_url without url", `{"content": [{"type": "image_url", "image_url": {"detail": "low"}}]}`,
			`"image_url" has no "url"`},
		{"url no string", `{"content": [{"type": "image_url", "image_url": {"url": null}}]}`,
			`expected "url" to be a URL or a path: got null`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			complains(t, failure(imagesIn(t, nil, `{"prompt": "x", "image_files": ["y"]}`, "", test.line)),
				"dataset custom_image: ", "f.jsonl, line 3: ", test.want)
		})
	}
}

func TestCustomImageOddButGoodRows(t *testing.T) {
	got := must(imagesIn(t, func(o *customImage) { o.customFlags = &customFlags{} },
		`{"prompt": "a b", "image_files": ["x"], "content": null, "output_tokens": 5}`,
		`{"content": [{"text": "no ", "type": "text", "more": 1}, {"type": "text", "text": "blank"}, {"type": `+
			`"image_url", "image_url": {"detail": 1, "url": "x", "detail": 2}}]}`))(t)
	first, second := got[0].Turns[0], got[1].Turns[0]
	same(t, "media", string(first.Media), `{"type":"image_url","image_url":{"url":"file://x"}}`)
	same(t, "output tokens", first.MaxTokens, 0)
	same(t, "text", second.Text, "no blank")
	same(t, "input tokens", second.InputTokens, 2)
	same(t, "messages", string(second.Messages),
		`[{"role":"user","content":[{"type":"text","text":"no "},{"type":"text","text":"blank"},`+
			`{"type":"image_url","image_url":{"detail":2,"url":"file://x"}}]}]`)
}

func TestCustomImageWithoutTokenizer(t *testing.T) {
	o := defaults[customImage]("custom_image")
	o.Path, o.Prompts = "testdata/custom_image_small.jsonl", 6
	list := must(made(t.Context(), o, Text{}, numpy.NewStreams(0)))(t)
	for _, c := range drain(t, list) {
		same(t, "input tokens", c.Turns[0].InputTokens, 1)
		same(t, "output tokens", c.Turns[0].MaxTokens, 256)
	}
	same(t, "description", list.About, "custom_image: 6 prompts of 6 with images in testdata/custom_image_small.jsonl")
}
