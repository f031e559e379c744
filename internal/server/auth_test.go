package server

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// What the command lines of clouds print is read, with its end where it has one.
func TestReadToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		jwt := func(claims string) string {
			return "aa." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".bb"
		}
		in := now.Add(time.Hour)
		for out, want := range map[string]struct {
			token string
			ends  time.Time
		}{
			"ya29.opaque\n":          {"ya29.opaque", time.Time{}},
			jwt(`{"exp":946688400}`): {jwt(`{"exp":946688400}`), time.Unix(946688400, 0)},
			jwt(`{"iat":5}`):         {jwt(`{"iat":5}`), time.Time{}},
			"a.b.c":                  {"a.b.c", time.Time{}},
			`{"access_token":"t1","expires_in":3600,"token_type":"Bearer"}`: {"t1",
				in},
			`{"accessToken":"t2","expiresOn":"2000-01-01 02:00:00.0","expires_on":946688400}`: {"t2",
				time.Unix(946688400, 0)},
			`{"accessToken":"t2","expires_on":"946688400"}`: {"t2",
				time.Unix(946688400, 0)},
			`{"access_token":"t5","expires_in":"3600","expires_on":"1506484173"}`: {"t5",
				in},
			`{"access_token":"t6","expires_in":null}`: {"t6", time.Time{}},
			`{"bad`: {}, `{"access_token":5}`: {},
			`{"kind":"ExecCredential","status":{"token":"t3","expirationTimestamp":"2000-01-01T01:00:00Z"}}`: {"t3",
				in},
			`{"token":"t4"}`: {"t4", time.Time{}},
			"":               {}, " \n ": {}, "{}": {}, `{"access_token":""}`: {}, "two\nlines": {}, "a\x1b[m": {},
			strings.Repeat("x", mostToken+1): {},
		} {
			token, ends, err := readToken([]byte(out))
			if token != want.token || !ends.Equal(want.ends) || (err == nil) != (want.token != "") {
				t.Errorf("%.60q: %q until %v, %v; want %q until %v", out, token, ends, err, want.token, want.ends)
			}
		}
	})
}

func FuzzReadToken(f *testing.F) {
	f.Add([]byte(`{"access_token":"t","expires_in":3600}`))
	f.Add([]byte("aa.eyJleHAiOjF9.bb"))
	f.Fuzz(func(t *testing.T, out []byte) {
		if token, _, err := readToken(out); err == nil && (token == "" || unsendable(token)) {
			t.Errorf("%q: %q", out, token)
		}
	})
}

// The error of a command that fails has its words.
func TestTokenCommand(t *testing.T) {
	token, _, err := tokenOf("echo a-token").Ask(t.Context())
	if token != "a-token" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
	_, _, err = tokenOf("echo log in first >&2; exit 3").Ask(t.Context())
	if err == nil || err.Error() != "--auth-command: exit status 3: log in first" {
		t.Error(err)
	}
	_, _, err = tokenOf("head -c 9000000 /dev/zero | tr '\\0' x").Ask(t.Context())
	assert.Complains(t, err, "more than a token")
	h := head{most: 3}
	for range 2 {
		if n, err := h.Write([]byte("ab")); n != 2 || err != nil {
			t.Error(n, err)
		}
	}
	assert.Equal(t, string(h.text), "aba", "%q was kept", h.text)
	for command, want := range map[string]string{
		"exit 3":                               "--auth-command: exit status 3",
		"echo got a-secret 'in b' >&2; exit 3": "--auth-command: exit status 3: got *** in b",
		"cat ~/missing-token":                  "--auth-command: exit status 1: cat: ",
	} {
		_, _, err = tokenOf(command).Ask(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.HasSuffix(err.Error(), ":") {
			t.Errorf("%s: %v", command, err)
		}
	}
}
