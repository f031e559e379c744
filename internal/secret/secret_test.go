package secret

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
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
		`ssh://me@h:22,ssh://u:canary@h`:                       `ssh://me@h:22,ssh://***@h`,
		`nats://canary@h,nats://canary@g`:                      `nats://***@h,nats://***@g`,
		`"token": `:                                            `"token": `,
		`{"tokens": [1, 2], "stop_tokens": ["a"]}`:             `{"tokens": [1, 2], "stop_tokens": ["a"]}`,
	} {
		assert.Equal(t, Hide(text), want, "%s", text)
	}
	args := []string{"serve", "--extra_body.api_key", "canary", "--extra-body.auth.token=canary",
		"--extra-body.max_tokens", "7", "--extra-body.max_tokens=7",
		"--extra-body.secret", "--no-save", "--model", "token",
		"--header", "Authorization=Bearer canary", "X-Team=canary", "--header=Cookie=a=canary", "--metadata",
		"api_key=canary", "team=a", "--label=b"}
	want := []string{"serve", "--extra_body.api_key", "***", "--extra-body.auth.token=***", "--extra-body.max_tokens",
		"7", "--extra-body.max_tokens=7",
		"--extra-body.secret", "***", "--model", "token",
		"--header", "Authorization=***", "X-Team=***", "--header=Cookie=***", "--metadata", "api_key=***", "team=a",
		"--label=b"}
	assert.EqualAll(t, HideWords(args, nil), want, "HideWords")
	if got := In(`{"a": {"api_key": "one"}, "tokens": ["two"], "max_tokens": 3, "secret": "fo\u0075r", "auth": {"x": ` +
		`[1, {"y": "five"}]}}`); !slices.Equal(got, []string{"one", "four", "five"}) {
		t.Errorf("secrets %q", got)
	}
}

// Values of headers and of names that sound secret are hidden wherever they stand; numbers of flags are no secrets.
func TestHideWords(t *testing.T) {
	for line, want := range map[string]string{
		"--header A=canary B=c=d --model m x=y": "--header A=*** B=*** --model m x=y",
		"--header=A=canary B=canary --n 3":      "--header=A=*** B=*** --n 3",
		"--head A=canary":                       "--head A=***",
		"--metadata api_key=canary a=b":         "--metadata api_key=*** a=b",
		"--metadata=token=canary":               "--metadata=token=***",
		"--hf-token canary --no-x":              "--hf-token *** --no-x",
		"--hf_token=canary":                     "--hf_token=***",
		"--hf-token --model m":                  "--hf-token --model m",
		"--time-per-token 7 --per-token=7":      "--time-per-token 7 --per-token=7",
		"--endpoint /v1/x?api_key=canary&x=1":   "--endpoint /v1/x?api_key=***&x=1",
		"--endpoint=/v1/x?x=1&key=canary#a":     "--endpoint=/v1/x?x=1&key=***#a",
		"--seed=3 --host h":                     "--seed=3 --host h",
		"--auth-command canary --auth-c=canary": "--auth-command *** --auth-c=***",
		"--auth_comm 7 --auth_command=canary":   "--auth_comm *** --auth_command=***",
	} {
		assert.Equal(t, strings.Join(HideWords(strings.Fields(line), nil), " "), want, "%s", line)
	}
}

// A key is hidden whatever its name, and a wrong value has nothing that may be a secret.
func TestHideKeys(t *testing.T) {
	for text, want := range map[string]string{
		"--seed sk-canary-1":                                 "--seed ***",
		`{"seed": "hf_canaryCANARY012345"}`:                  `{"seed": "***"}`,
		"eyJhbGciOi.eyJjYW5hcnk.c2ln and AKIA0123456789ABCD": "*** and ***",
		"task-canary risk-assessment sk-learn":               "task-canary risk-assessment sk-learn",
		"results/8d5f1f0c2b6e4d0c9a7b.json":                  "results/8d5f1f0c2b6e4d0c9a7b.json",
	} {
		assert.Equal(t, Hide(text), want, "%s", text)
	}
	for text, want := range map[string]string{
		`{"api_key" "canary"`:         `{"api_key***`,
		"{'token': 'canary'":          "{'token':***",
		"0123456789abcdef0123":        "***",
		"twelve 12345678901234567890": "twelve 12345678901234567890",
		"many":                        "many",
	} {
		assert.Equal(t, HideBroken(text), want, "%s", text)
	}
}

func TestHideValue(t *testing.T) {
	for _, c := range [][3]string{
		{"header", `"X=canary"`, `"X=***"`},
		{"header", `["X=canary", "Y=canary"]`, `["X=***", "Y=***"]`},
		{"api_key", `"canary"`, `"***"`},
		{"api_key", `["canary"]`, `"***"`},
		{"auth_command", `"curl -H 'Authorization: Bearer canary'"`, `"***"`},
		{"a", `{"auth_command": "echo canary"}`, `{"auth_command": "***"}`},
		{"per_token", `0.5`, `0.5`},
		{"extra_body", `"{\"api_key\":\"canary\"}"`, `"{\"api_key\":\"***\"}"`},
		{"extra_body", `{"a": {"secret": {"b": "canary"}, "c": [1, null]}, "d": "x"}`,
			`{"a": {"secret": "***", "c": [1, null]}, "d": "x"}`},
		{"extra_body", `{"u": "http://a", "b": "c@d", "v": "http://u:canary@h"}`,
			`{"u": "http://a", "b": "c@d", "v": "http://***@h"}`},
		{"extra_body.api_key", `"canary"`, `"***"`},
		{"max_num_seqs", `32`, `32`},
		{"a", `{"u":"http://a","b":"c@d","password":12345}`, `{"u":"http://a","b":"c@d","password":"***"}`},
		{"a", `{}`, `{}`},
		{"a", `[]`, `[]`},
		{"a", `"\u0041"`, `"\u0041"`},
	} {
		assert.Equal(t, string(HideValue(c[0], []byte(c[1]))), c[2], "%s %s", c[0], c[1])
	}
}

// The name of a file, a variable or a program is no secret; a command with more than that may have one.
func TestShows(t *testing.T) {
	for value, want := range map[[2]string]bool{
		{"api-key", "@key"}: true, {"api-key", "$KEY"}: true, {"api-key", "canary"}: false, {"seed", "1"}: false,
		{"auth-command", "~/bin/token.sh"}: true, {"auth-command", "cat key"}: false,
		{"auth-command", "sk-canary-1"}: false, {"auth-command", "$KEY"}: false, {"auth-command", "K=canary"}: false,
	} {
		assert.Equal(t, Shows(value[0], value[1]), want, "%q: not %v", value, want)
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
		if json.Valid([]byte(text)) {
			safe := HideValue("a", []byte(strings.TrimSpace(text)))
			if again := HideValue("a", safe); !json.Valid(safe) || string(again) != string(safe) {
				t.Errorf("%s became %s, then %s", text, safe, again)
			}
		}
	})
}
