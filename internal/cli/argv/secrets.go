package argv

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Secret replaces text that must not be shown.
const Secret = "***"

// userInfo is the user and password of a URL, wherever it stands in an argument.
var userInfo = regexp.MustCompile(`://[^/\s]*@`)

// SecretName is a name whose value is a secret: of a variable of the environment, of a member of a request's body. Tokens are counted
// more often than kept secret, so max_tokens is none.
var SecretName = regexp.MustCompile(`(?i)((api|access|secret|private|auth)[-_]?key|secret|password|passwd|passphrase|credential|authorization|auth|cookie)s?$|token$`)

// isSecret reports whether the value of a name has to be hidden. A switch is no secret.
func isSecret(name, value string) bool {
	return SecretName.MatchString(name) && value != "true" && value != "false" && value != "null"
}

// member is the beginning of a member of a JSON object.
var member = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"\s*:\s*`)

// texts are all texts in a value of JSON.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		all = []string{v}
	case []any:
		for _, item := range v {
			all = append(all, texts(item)...)
		}
	case map[string]any:
		for _, item := range v {
			all = append(all, texts(item)...)
		}
	}
	return all
}

// hideMembers hides the values of members of JSON objects whose names are those of secrets, and returns the texts in them.
func hideMembers(text string) (safe string, secrets []string) {
	for at := member.FindStringSubmatchIndex(text); at != nil; at = member.FindStringSubmatchIndex(text) {
		safe += text[:at[1]]
		name, rest := text[at[2]:at[3]], text[at[1]:]
		var value json.RawMessage
		if d := json.NewDecoder(strings.NewReader(rest)); SecretName.MatchString(name) && d.Decode(&value) == nil && isSecret(name, string(value)) {
			var v any
			_ = json.Unmarshal(value, &v) // decoded already
			secrets = append(secrets, texts(v)...)
			safe += `"` + Secret + `"`
			rest = rest[d.InputOffset():]
		}
		text = rest
	}
	return safe + text, secrets
}

// Hide is a text that may be shown and saved: without users of URLs, and without secrets in JSON.
func Hide(text string) string {
	text, _ = hideMembers(text)
	return userInfo.ReplaceAllString(text, "://"+Secret+"@")
}

// Secrets are the secrets in the JSON of a flag, as a server may repeat them.
func (v *JSON) Secrets() []string {
	_, all := hideMembers(v.String())
	return all
}

// HideSecrets returns a command line that may be shown and saved. Of headers, the values of --header as written and those that follow the
// flag, only the keys remain, and of secrets in JSON, as in --extra-body, and in NAME=VALUE, as in --metadata, the names.
func HideSecrets(args, headers []string) []string {
	safe := make([]string, len(args))
	before, header := "", false // the name whose value is the next word; whether it is a header
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		flag := strings.HasPrefix(a, "--")
		dotted := flag && strings.Contains(name, ".")
		header = !flag && header || name == "--header"
		switch key, text, _ := strings.Cut(value, "="); {
		case isSecret(before, a):
			a = Secret
		case header && flag && text != "":
			a = name + "=" + key + "=" + Secret
		case joined && value != "" && (header && !flag || (dotted || !flag) && isSecret(name, value)):
			a = name + "=" + Secret
		}
		if before = ""; dotted && !joined {
			before = name
		}
		for _, h := range headers {
			if h != "" && (a == h || strings.HasPrefix(a, "--") && strings.HasSuffix(a, "="+h)) {
				key, _, _ := strings.Cut(h, "=")
				a = strings.TrimSuffix(a, h) + key + "=" + Secret
			}
		}
		safe[i] = Hide(a)
	}
	return safe
}
