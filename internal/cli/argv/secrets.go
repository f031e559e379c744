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

// SecretName is the name of something whose value is a secret: a variable of the environment, a member of a request's body.
var SecretName = regexp.MustCompile(`(?i)((api|access|secret|private|auth)[-_]?key|token|secret|password|passwd|passphrase|credential|authorization|auth|cookie)s?$`)

// member is the beginning of a member of a JSON object.
var member = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"\s*:\s*`)

// isSecret reports whether the JSON value of a name has to be hidden: max_tokens is no secret, nor is a switch.
func isSecret(name, value string) bool {
	if !SecretName.MatchString(name) {
		return false
	}
	var v any
	_ = json.Unmarshal([]byte(value), &v) // text without quotation marks is as good as with them
	switch v.(type) {
	case bool:
		return false
	case float64:
		return !strings.HasSuffix(strings.ToLower(name), "tokens")
	}
	return value != "null"
}

// hideMembers hides the values of members of JSON objects whose names are those of secrets, and tells found of each.
func hideMembers(text string, found func(value string)) string {
	var out strings.Builder
	for at := member.FindStringSubmatchIndex(text); at != nil; at = member.FindStringSubmatchIndex(text) {
		out.WriteString(text[:at[1]])
		name, rest := text[at[2]:at[3]], text[at[1]:]
		var value json.RawMessage
		if d := json.NewDecoder(strings.NewReader(rest)); SecretName.MatchString(name) && d.Decode(&value) == nil && isSecret(name, string(value)) {
			found(string(value))
			out.WriteString(`"` + Secret + `"`)
			rest = rest[d.InputOffset():]
		}
		text = rest
	}
	return out.String() + text
}

// Hide is a text that may be shown and saved: without users of URLs, and without secrets in JSON.
func Hide(text string) string {
	return userInfo.ReplaceAllString(hideMembers(text, func(string) {}), "://"+Secret+"@")
}

// Secrets are the secrets in the JSON of a flag, as a server may repeat them.
func (v *JSON) Secrets() (all []string) {
	hideMembers(v.String(), func(value string) {
		var text string
		if json.Unmarshal([]byte(value), &text) == nil {
			all = append(all, text)
		}
	})
	return all
}

// HideSecrets returns a command line that may be shown and saved. Of headers, the values of --header as written, only the keys
// remain, and of secrets in JSON, as in --extra-body, the names.
func HideSecrets(args, headers []string) []string {
	safe := make([]string, len(args))
	before := "" // the name whose value is the next word
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		dotted := strings.HasPrefix(a, "--") && strings.Contains(name, ".")
		switch {
		case isSecret(before, a):
			a = Secret
		case dotted && joined && isSecret(name, value):
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
