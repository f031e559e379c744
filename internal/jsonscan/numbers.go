package jsonscan

import (
	"bytes"
	"regexp"
)

// pythonNumbers are the numbers of Python that JSON does not know, and the strings that such words may stand in.
var pythonNumbers = regexp.MustCompile(`"(?s:[^"\\]|\\.)*"|NaN|-?Infinity`)

// FirstToken is the first string or number of Python in a text; nil for none.
func FirstToken(text []byte) []byte { return pythonNumbers.Find(text) }

// PlainNumbers rewrites numbers of Python as JSON: NaN is null, and infinities are ±1e999.
func PlainNumbers(text []byte) []byte { return replaceNumbers(text, "null", "1e999", "-1e999") }

// QuotedNumbers rewrites numbers of Python as texts: nan, inf and -inf.
func QuotedNumbers(text []byte) []byte { return replaceNumbers(text, `"nan"`, `"inf"`, `"-inf"`) }

func replaceNumbers(text []byte, nan, inf, negative string) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	return pythonNumbers.ReplaceAllFunc(text, func(found []byte) []byte {
		switch found[0] {
		case 'N':
			return []byte(nan)
		case 'I':
			return []byte(inf)
		case '-':
			return []byte(negative)
		}
		return found
	})
}
