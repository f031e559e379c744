package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/secret"
	"benchtop/internal/text"
	"benchtop/loadgen/target"
)

const (
	// mostToken is the longest token.
	mostToken = 64 << 10
	// mostOutput is how much of what a command prints is kept; JSON may have more in it than a token.
	mostOutput = 1 << 20
)

// head keeps the first bytes of what is written, so that a command that never stops printing fills no memory.
type head struct {
	most int
	text []byte
}

func (h *head) Write(b []byte) (int, error) {
	h.text = append(h.text, b[:min(len(b), h.most-len(h.text))]...)
	return len(b), nil
}

// tokenOf is a token that a command of the shell prints.
func tokenOf(command string) *target.Token {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C"}
	}
	return &target.Token{Ask: func(ctx context.Context) (string, time.Time, error) {
		out, problems := head{most: mostOutput}, head{most: mostOutput}
		c := exec.CommandContext(ctx, shell[0], append(shell[1:], command)...)
		c.Stdout, c.Stderr, c.WaitDelay = &out, &problems, time.Second
		inGroup(c)
		began := time.Now()
		err := c.Run()
		if ctx.Err() != nil {
			err = fmt.Errorf("it printed no token within %s", time.Since(began).Round(100*time.Millisecond))
		}
		if err != nil {
			words := strings.TrimSpace(text.Clean(hideWords(command, string(problems.text))))
			why := strings.TrimSuffix(fmt.Sprintf("--auth-command: %s: %.200s", err, words), ": ")
			return "", time.Time{}, errors.New(why)
		}
		return readToken(out.text)
	}}
}

// hideWords hides what a command quotes of itself, which may be a secret: its words but short ones and the program.
func hideWords(command, said string) string {
	const shortest = 6
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;|&()=:", r) })
	words = words[min(1, len(words)):]
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // one may be in another
	for _, w := range words {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") { // a flag of a letter may have its value behind it
			w = w[min(2, len(w)):]
		}
		if len(w) >= shortest && !strings.HasPrefix(w, "-") {
			said = strings.ReplaceAll(said, w, secret.Mask)
		}
	}
	return said
}

// readToken reads what a command printed: a token, or JSON with one and its end, as the command lines of clouds and the
// credential plugins of Kubernetes have it.
func readToken(out []byte) (token string, expires time.Time, err error) {
	var o struct {
		OAuth   string          `json:"access_token"`
		Azure   string          `json:"accessToken"`
		Plain   string          `json:"token"`
		Seconds json.RawMessage `json:"expires_in"` // Azure's metadata service has numbers as strings
		Unix    json.RawMessage `json:"expires_on"`
		Status  struct {
			Token   string    `json:"token"`
			Expires time.Time `json:"expirationTimestamp"`
		} `json:"status"`
	}
	token = string(bytes.TrimSpace(out))
	if strings.HasPrefix(token, "{") {
		token = ""
		if json.Unmarshal(out, &o) != nil {
			return "", expires, errors.New("--auth-command: it printed JSON that cannot be read as a token's")
		}
		for _, t := range []string{o.OAuth, o.Azure, o.Plain, o.Status.Token} {
			if t != "" {
				token = t
			}
		}
		seconds, unix := number(o.Seconds), number(o.Unix)
		switch {
		case seconds > 0:
			expires = time.Now().Add(time.Duration(min(seconds, math.MaxInt32)) * time.Second)
		case unix > 0:
			expires = time.Unix(int64(unix), 0)
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

// number is a number of JSON, perhaps in quotes; 0 for another value.
func number(raw json.RawMessage) float64 {
	n, _ := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	return n
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
