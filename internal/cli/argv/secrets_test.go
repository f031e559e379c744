package argv

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Members of JSON whose names are those of secrets are hidden with all that they hold; lengths and switches are none.
func TestHideMembers(t *testing.T) {
	for text, want := range map[string]string{
		`{"api_key": "canary", "top_k": 3}`:                    `{"api_key": "***", "top_k": 3}`,
		`{"a":{"b":{"c":1},"Api-Key" :"can\"ary"},"d":"e"}`:    `{"a":{"b":{"c":1},"Api-Key" :"***"},"d":"e"}`,
		`{"credentials":{"a":{"b":"canary"},"c":["canary"]}}`:  `{"credentials":"***"}`,
		`{"passwords":["canary",["canary"]],"x":1}`:            `{"passwords":"***","x":1}`,
		`{"password": 12345, "token":"canary"}`:                `{"password": "***", "token":"***"}`,
		`{"max_tokens": 16, "min_tokens":0, "token": null}`:    `{"max_tokens": 16, "min_tokens":0, "token": null}`,
		`{"use_auth": true, "prompt_cache_key":"a","key":"b"}`: `{"use_auth": true, "prompt_cache_key":"a","key":"b"}`,
		`--extra-body={"secret":"canary"}`:                     `--extra-body={"secret":"***"}`,
		`{"url":"https://me:canary@h/x","bad":`:                `{"url":"https://***@h/x","bad":`,
		`"token": `:                                            `"token": `,
		`{"tokens": [1, 2], "stop_tokens": ["a"]}`:             `{"tokens": [1, 2], "stop_tokens": ["a"]}`,
	} {
		if got := Hide(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	args := []string{"serve", "--extra_body.api_key", "canary", "--extra-body.auth.token=canary", "--extra-body.max_tokens", "7", "--extra-body.max_tokens=7",
		"--extra-body.secret", "--no-save", "--model", "token",
		"--header", "Authorization=Bearer canary", "X-Team=canary", "--header=Cookie=a=canary", "--metadata", "api_key=canary", "team=a", "--label=b"}
	want := []string{"serve", "--extra_body.api_key", "***", "--extra-body.auth.token=***", "--extra-body.max_tokens", "7", "--extra-body.max_tokens=7",
		"--extra-body.secret", "***", "--model", "token",
		"--header", "Authorization=***", "X-Team=***", "--header=Cookie=***", "--metadata", "api_key=***", "team=a", "--label=b"}
	if got := HideSecrets(args, nil); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	var v JSON
	if err := v.Set(`{"a": {"api_key": "one"}, "tokens": ["two"], "max_tokens": 3, "secret": "fo\u0075r", "auth": {"x": [1, {"y": "five"}]}}`); err != nil {
		t.Fatal(err)
	}
	if got := v.Secrets(); !slices.Equal(got, []string{"one", "four", "five"}) {
		t.Errorf("secrets %q", got)
	}
}

// What is hidden is still JSON where it was JSON, and hiding it again changes nothing.
func FuzzHide(f *testing.F) {
	f.Add(`{"api_key": "a\"b", "c": {"tokens": [1, "x"]}, "secret": {"x": "http://a:b@c"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		once := Hide(text)
		if json.Valid([]byte(text)) && !json.Valid([]byte(once)) && !strings.Contains(text, "://") {
			t.Errorf("%s became %s", text, once)
		}
		if again := Hide(once); again != once {
			t.Errorf("%s became %s, then %s", text, once, again)
		}
	})
}
