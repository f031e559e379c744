package target

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// secret is a text to hide.
type secret struct {
	text string
	// word: it is hidden only as a word of its own, since it may be a part of other words by chance.
	word bool
}

// Hide replaces every secret in a text: the API key, a password in the URL and the values of the headers that were
// given. Servers often quote a value that they refuse. Secrets of fewer than four characters, and values of headers
// whose name does not suggest a secret, are replaced only as words of their own.
func (t *Target) Hide(text string) string {
	for _, s := range append(t.token.secrets(), t.secrets...) {
		if s.word {
			text = replaceWord(text, s.text)
		} else {
			text = strings.ReplaceAll(text, s.text, hidden)
		}
	}
	return text
}

const (
	hidden = "***"
	// shortSecret is the length below which a secret is likely to be part of an innocent word.
	shortSecret = 4
)

// keep adds a secret, also in the form that it has inside quotation marks.
func (t *Target) keep(text string, word bool) {
	quoted := strconv.Quote(text)
	for _, s := range []string{text, quoted[1 : len(quoted)-1]} {
		s := secret{s, word || len(s) < shortSecret}
		if s.text != "" && !slices.Contains(t.secrets, s) {
			t.secrets = append(t.secrets, s)
		}
	}
	longestFirst(t.secrets)
}

// longestFirst sorts secrets: one that contains another has to go first.
func longestFirst(all []secret) {
	slices.SortStableFunc(all, func(a, b secret) int { return len(b.text) - len(a.text) })
}

// Keep has Hide replace further secrets. It comes before the first use of the target.
func (t *Target) Keep(secrets []string) {
	for _, s := range secrets {
		t.keep(s, false)
	}
}

// keepHeader remembers the value of a header.
func (t *Target) keepHeader(name, value string) {
	switch {
	case SoundsSecret(name):
		t.keep(value, false)
		if name == "Cookie" {
			for part := range strings.SplitSeq(value, ";") {
				_, v, _ := strings.Cut(part, "=")
				t.keep(strings.TrimSpace(v), false)
			}
		}
		// A scheme such as Bearer is not secret, the credentials behind it are.
		if scheme, credentials, ok := strings.Cut(value, " "); ok {
			t.keep(strings.TrimSpace(credentials), false)
			if strings.EqualFold(scheme, "Basic") {
				plain, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(credentials))
				_, password, _ := strings.Cut(string(plain), ":")
				t.keep(password, false)
			}
		}
	case !slices.Contains(public, name) && len(value) >= shortSecret &&
		!slices.Contains(plainWords, strings.ToLower(value)):
		t.keep(value, true)
	}
}

// SoundsSecret reports whether the name of a header suggests that its value is a secret.
func SoundsSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}

var secretNames = []string{
	"auth", "key", "token", "secret", "password", "passwd", "credential", "cookie", "session", "signature",
}

// public headers have no secrets, and plain words are common in error messages.
var (
	public = []string{"Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Cache-Control", "Connection",
		"Content-Encoding", "Content-Language", "Content-Type", "Expect", "Host", "Origin", "Referer", "User-Agent"}
	plainWords = []string{"true", "false", "null", "none", "http", "https", "json", "text", "utf-8", "stream",
		"default"}
)

// replaceWord hides a word wherever it is not part of a longer one.
func replaceWord(text, word string) string {
	var out strings.Builder
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			if from == 0 {
				return text
			}
			return out.String() + text[from:]
		}
		at += from
		end := at + len(word)
		if at > 0 && isWordByte(text[at-1]) && isWordByte(word[0]) ||
			end < len(text) && isWordByte(text[end]) && isWordByte(word[len(word)-1]) {
			out.WriteString(text[from:end])
		} else {
			out.WriteString(text[from:at])
			out.WriteString(hidden)
		}
		from = end
	}
}

func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80
}
