package tokenizer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decodeByteLevel reads tokens in the byte alphabet; a token with a character outside it stands for itself.
func decodeByteLevel(tokens []string) []string {
	var text []byte
	for _, token := range tokens {
		text = appendByteLevel(text, token)
	}
	return []string{validText(string(text))}
}

// appendByteLevel appends what a token in the byte alphabet stands for.
func appendByteLevel(text []byte, token string) []byte {
	before := len(text)
	for _, r := range token {
		b, ok := byteOf(r)
		if !ok {
			return append(text[:before], token...)
		}
		text = append(text, b)
	}
	return text
}

// byteOf returns the byte that a character of the byte alphabet stands for. The alphabet has a visible character for every byte:
// the printable ones of Latin-1 stand for themselves, the others, in their order, are U+0100 and up.
func byteOf(r rune) (byte, bool) {
	switch {
	case r >= '!' && r <= '~', r >= 0xA1 && r <= 0xFF && r != 0xAD:
		return byte(r), true
	case r >= 0x100 && r <= 0x120: // 0x00 … 0x20
		return byte(r - 0x100), true
	case r >= 0x121 && r <= 0x142: // 0x7F … 0xA0
		return byte(r - 0x121 + 0x7F), true
	case r == 0x143:
		return 0xAD, true
	}
	return 0, false
}

// decodeByteFallback joins the tokens <0x00> … <0xFF> that follow one another into text. If the bytes are not UTF-8,
// each of them is a U+FFFD of its own.
func decodeByteFallback(tokens []string) []string {
	out := make([]string, 0, len(tokens))
	var run []byte
	flush := func() {
		if utf8.Valid(run) {
			out = append(out, string(run))
		} else {
			for range run {
				out = append(out, "\uFFFD")
			}
		}
		run = run[:0]
	}
	for _, token := range tokens {
		if len(token) == 6 && strings.HasPrefix(token, "<0x") && token[5] == '>' {
			if b, err := strconv.ParseUint(token[3:5], 16, 8); err == nil {
				run = append(run, byte(b))
				continue
			}
		}
		if len(run) > 0 {
			flush()
		}
		out = append(out, token)
	}
	if len(run) > 0 {
		flush()
	}
	return out
}

// metaspace puts blanks for the visible blank, and drops those of the first token if encoding puts one there.
func (f *decoderFields) metaspace() (decodeStage, error) {
	if utf8.RuneCountInString(f.Replacement) != 1 {
		return nil, fmt.Errorf("replacement %q is not one character", f.Replacement)
	}
	switch f.Scheme {
	case "":
		f.Scheme = "always"
		if f.PrefixSpace != nil && !*f.PrefixSpace {
			f.Scheme = "never"
		}
	case "always", "first", "never":
	default:
		return nil, fmt.Errorf("prepend_scheme %q is not known", f.Scheme)
	}
	return eachToken(func(i int, token string) string {
		blank := " "
		if i == 0 && f.Scheme != "never" {
			blank = ""
		}
		return strings.ReplaceAll(token, f.Replacement, blank)
	}), nil
}

// wordPiece puts a blank before every token that does not go on a word.
func (f *decoderFields) wordPiece() decodeStage {
	prefix, cleanup := wordPiecePrefix, true
	if f.Prefix != nil {
		prefix = *f.Prefix
	}
	if f.Cleanup != nil {
		cleanup = *f.Cleanup
	}
	return eachToken(func(i int, token string) string {
		if rest, goesOn := strings.CutPrefix(token, prefix); i > 0 && goesOn {
			token = rest
		} else if i > 0 {
			token = " " + token
		}
		if cleanup {
			token = cleanUp(token, true)
		}
		return token
	})
}

// cleanUp takes away blanks that English does not write, one rule after the other. Shorten also turns "do not" into
// "don't", which a decoder does to a token and the clean-up of a whole text does not.
func cleanUp(text string, shorten bool) string {
	if !strings.Contains(text, " ") {
		return text
	}
	for _, rule := range [...][2]string{
		{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
		{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
	} {
		if shorten || rule[0] != " do not" {
			text = strings.ReplaceAll(text, rule[0], rule[1])
		}
	}
	return text
}

// decodeSuffix puts a blank for the mark that a word ends, but none behind the last word.
func decodeSuffix(suffix string) decodeStage {
	return func(tokens []string) []string {
		for i, token := range tokens {
			blank := " "
			if i == len(tokens)-1 {
				blank = ""
			}
			if suffix != "" {
				tokens[i] = strings.ReplaceAll(token, suffix, blank)
			}
		}
		return tokens
	}
}
