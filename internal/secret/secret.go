// Package secret takes secrets out of what is shown and saved: command lines, bodies and parameters.
package secret

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"benchtop/internal/jsonscan"
)

// Mask replaces text that must not be shown.
const Mask = "***"

// userInfo is the user and password of a URL, wherever it stands in an argument. A text of JSON ends at a quote.
var userInfo = regexp.MustCompile(`(?:ssh)?://[^/\s"]*@`)

// hideUser hides what userInfo found, but for the user of ssh, without whom a command cannot be repeated.
func hideUser(found string) string {
	if strings.HasPrefix(found, "ssh") && !strings.Contains(found[len("ssh:"):], ":") {
		return found
	}
	return found[:strings.Index(found, "://")] + "://" + Mask + "@"
}

// Name is a name whose value is a secret: of a variable of the environment, of a member of a request's body. Tokens are
// counted more often than kept secret, so max_tokens is none. The command of --auth-command may have secrets in it.
var Name = regexp.MustCompile(
	`(?i)((api|access|secret|private|auth)[-_]?key|auth[-_]command|secret|password|passwd|passphrase|credential|` +
		`authorization|auth|cookie)s?$|token$`)

// key is a text that is a key to some service, whatever its name: the issuers of keys give them such beginnings.
var key = regexp.MustCompile(`\bsk-[\w-]{6,}|\b[spr]k_(?:live|test)_\w{6,}|\b(?:hf|gsk|gh[opsur])_[A-Za-z0-9]{16,}|` +
	`\bgithub_pat_\w{16,}|` +
	`\b(?:glpat|nvapi|xox[a-z])-[\w-]{10,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\beyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]*)?`)

// parameter is one of the query of a URL, whose names may be shorter than others.
var (
	parameter = regexp.MustCompile(`[?&]([\w-]+)=([^&\s"'#]+)`)
	ofQuery   = regexp.MustCompile(`^(?:key|sig|signature)$`)
)

// hideQuery hides the parameters of URLs that are secrets.
func hideQuery(text string) string {
	return parameter.ReplaceAllStringFunc(text, func(p string) string {
		name, value, _ := strings.Cut(p, "=")
		if isSecret(name[1:], value) || ofQuery.MatchString(name[1:]) {
			return name + "=" + Mask
		}
		return p
	})
}

// isSecret reports whether the value of a name has to be hidden. A switch is no secret.
func isSecret(name, value string) bool {
	return Name.MatchString(name) && value != "true" && value != "false" && value != "null"
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

// hideMembers hides the values of members of JSON objects whose names are those of secrets, and returns the texts in
// them.
func hideMembers(text string) (safe string, secrets []string) {
	for at := member.FindStringSubmatchIndex(text); at != nil; at = member.FindStringSubmatchIndex(text) {
		safe += text[:at[1]]
		name, rest := text[at[2]:at[3]], text[at[1]:]
		var value json.RawMessage
		if d := json.NewDecoder(strings.NewReader(rest)); Name.MatchString(name) && d.Decode(&value) == nil &&
			isSecret(name, string(value)) {
			var v any
			_ = json.Unmarshal(value, &v) // decoded already
			secrets = append(secrets, texts(v)...)
			safe += `"` + Mask + `"`
			rest = rest[d.InputOffset():]
		}
		text = rest
	}
	return safe + text, secrets
}

// Reference is the value of a header that stands elsewhere, perhaps behind a word such as Bearer: @FILE, or $NAME for a
// variable of the environment.
var Reference = regexp.MustCompile(`^(\S+ )?(?:@(.+)|\$([A-Za-z_][A-Za-z0-9_]*))$`)

// Hide is a text that may be shown and saved: without users and secrets of URLs, secrets in JSON, and texts that are
// keys by their looks.
func Hide(text string) string {
	text, _ = hideMembers(text)
	return key.ReplaceAllString(hideQuery(userInfo.ReplaceAllStringFunc(text, hideUser)), Mask)
}

// In are the secrets in a text of JSON, as a server may repeat them.
func In(text string) []string {
	_, all := hideMembers(text)
	return all
}

var (
	word   = regexp.MustCompile(`([\w-]+)(?:["']?\s*[:=])?`)
	opaque = regexp.MustCompile(`[A-Za-z0-9]{20,}`)
)

// HideBroken is a value that is wrong, fit for an error: up to the first name of a secret, and without words that may
// be one since they are long and mix letters with digits.
func HideBroken(text string) string {
	for _, at := range word.FindAllStringSubmatchIndex(text, -1) {
		if Name.MatchString(text[at[2]:at[3]]) {
			return Hide(text[:at[1]]) + Mask
		}
	}
	return opaque.ReplaceAllStringFunc(Hide(text), func(w string) string {
		if strings.ContainsAny(w, "0123456789") && strings.Trim(w, "0123456789") != "" {
			return Mask
		}
		return w
	})
}

// HideValue is the value of a flag or a member, as JSON, that may be shown and saved.
func HideValue(name string, value []byte) []byte {
	var safe []byte
	switch value[0] {
	case '{':
		safe = []byte(Hide(string(value)))
	case '[':
		for v := range jsonscan.Elements(value) {
			safe = append(append(safe, ", "...), HideValue(name, v)...)
		}
		safe = append(append([]byte{'['}, bytes.TrimPrefix(safe, []byte(", "))...), ']')
	case '"':
		text := jsonscan.Text(value)
		safe = jsonscan.Quote(HideWords([]string{"--" + name, text}, nil)[1])
		if jsonscan.Text(safe) == text {
			return value
		}
		return safe
	default:
		safe = value
	}
	if isSecret(name, string(value)) && !isNumber(string(value)) {
		return jsonscan.Quote(Mask)
	}
	return safe
}

// isNumber reports whether a text is a number: a flag with one, such as a time per token, is no secret.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// isHeader reports whether a flag is --header, perhaps abbreviated.
func isHeader(flag string) bool { return len(flag) > len("--h") && strings.HasPrefix("--header", flag) }

// isKey reports whether a flag is --api-key or --auth-command, perhaps abbreviated. Its value is a secret even if it is
// a number.
func isKey(flag string) bool {
	flag = strings.ReplaceAll(flag, "_", "-")
	return len(flag) > len("--a") &&
		(strings.HasPrefix("--api-key", flag) || strings.HasPrefix("--auth-command", flag))
}

// Shows reports whether a value of a flag may be shown as it is although the flag is for secrets: the name of a file or
// a variable, and of a program without arguments.
func Shows(flag, value string) bool {
	return flag == "api-key" && Reference.MatchString(value) || flag == "auth-command" && program.MatchString(value) &&
		Hide(value) == value
}

// program is a command of one plain word.
var program = regexp.MustCompile(`^[\w./~-]+$`)

// HideWords returns a command line that may be shown and saved. Of headers, which are the values of --header and those
// given as written, only the keys remain, of secrets in JSON, as in --extra-body, the names, and so with KEY=VALUE.
func HideWords(args, headers []string) []string {
	safe := make([]string, len(args))
	before, within := "", "" // the flag whose value is the next word, and the one whose values the next words may be
	for i, a := range args {
		isFlag := strings.HasPrefix(a, "--")
		name, value, joined := strings.Cut(a, "=")
		dotted := isFlag && strings.Contains(name, ".")
		prefix, pair := "", a
		switch {
		case isFlag && joined:
			within, prefix, pair = name, name+"=", value
		case isFlag:
			within, pair = name, ""
		}
		key, text, paired := strings.Cut(pair, "=")
		switch {
		case isSecret(before, a) && (strings.Contains(before, ".") || !isFlag && !isNumber(a)),
			isKey(before) && !isFlag:
			a = Mask
		case isFlag && joined && (isSecret(name, value) && (dotted || !isNumber(value)) || isKey(name)):
			a = prefix + Mask
		case paired && (isHeader(within) || isSecret(strings.TrimSpace(key), text) && !strings.Contains(key, "?")):
			a = prefix + key + "=" + Mask
		}
		if before = ""; isFlag && !joined {
			before = name
		}
		safe[i] = Hide(hideHeader(a, headers))
	}
	return safe
}

// hideHeader masks the value of a header that a word, or the value of its flag, is.
func hideHeader(word string, headers []string) string {
	for _, h := range headers {
		if h != "" && (word == h || strings.HasPrefix(word, "--") && strings.HasSuffix(word, "="+h)) {
			key, _, _ := strings.Cut(h, "=")
			word = strings.TrimSuffix(word, h) + key + "=" + Mask
		}
	}
	return word
}
