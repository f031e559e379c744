package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"benchtop/internal/text"
	"benchtop/loadgen/target"
)

// mostToken is the longest output of a command that prints a token.
const mostToken = 64 << 10

// tokenOf is a token that a command of the shell prints.
func tokenOf(command string) *target.Token {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C"}
	}
	return &target.Token{Ask: func(ctx context.Context) (string, time.Time, error) {
		var out, problems bytes.Buffer
		c := exec.CommandContext(ctx, shell[0], append(shell[1:], command)...)
		c.Stdout, c.Stderr, c.WaitDelay = &out, &problems, time.Second
		err := c.Run()
		if ctx.Err() != nil {
			err = errors.New("it takes too long")
		}
		if err != nil {
			words := strings.TrimSpace(text.Clean(problems.String()))
			return "", time.Time{}, fmt.Errorf("--auth-command: %w: %.200s", err, words)
		}
		return readToken(out.Bytes())
	}}
}

// readToken reads what a command printed: a token, or JSON with one and its end, as the command lines of clouds and the
// credential plugins of Kubernetes have it.
func readToken(out []byte) (token string, expires time.Time, err error) {
	var o struct {
		OAuth   string          `json:"access_token"`
		Azure   string          `json:"accessToken"`
		Plain   string          `json:"token"`
		Seconds float64         `json:"expires_in"`
		Unix    json.RawMessage `json:"expires_on"`
		Status  struct {
			Token   string    `json:"token"`
			Expires time.Time `json:"expirationTimestamp"`
		} `json:"status"`
	}
	token = string(bytes.TrimSpace(out))
	if strings.HasPrefix(token, "{") && json.Unmarshal(out, &o) == nil {
		token = ""
		for _, t := range []string{o.OAuth, o.Azure, o.Plain, o.Status.Token} {
			if t != "" {
				token = t
			}
		}
		var unix int64
		switch text := strings.Trim(string(o.Unix), `"`); {
		case o.Seconds > 0:
			expires = time.Now().Add(time.Duration(o.Seconds * float64(time.Second)))
		case text != "" && json.Unmarshal([]byte(text), &unix) == nil:
			expires = time.Unix(unix, 0)
		default:
			expires = o.Status.Expires
		}
	}
	switch {
	case token == "":
		return "", expires, errors.New("--auth-command: it printed no token; expected the token alone, or JSON with " +
			"access_token, accessToken, token or status.token")
	case unsendable(token) || len(token) > mostToken:
		return "", expires,
			errors.New("--auth-command: it printed more than a token; expected one line with the token " +
				"alone, or JSON with it")
	}
	if expires.IsZero() {
		expires = endOfJWT(token)
	}
	return token, expires, nil
}

// endOfJWT is when a JSON Web Token expires (RFC 7519, section 4.1.4), the zero time for other tokens.
func endOfJWT(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	body, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || json.Unmarshal(body, &claims) != nil || claims.Exp <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Exp), 0)
}
