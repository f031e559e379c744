package tokenizer

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// Counts above this are no pattern for words.
const maxRepeat = 1000

// repeat is a quantifier: a sign with its mode, possessive or lazy, or counts in braces.
var repeat = regexp.MustCompile(`^(?:[*+?][+?]?|\{(\d*)(,?)(\d*)\})`)

// quantifier reads a quantifier if one comes next; "" if not.
func (t *translator) quantifier() (string, error) {
	found := repeat.FindStringSubmatch(t.rest)
	if found == nil || found[0] == "{}" || found[0] == "{,}" {
		return "", nil // a brace may stand for itself
	}
	q, low, comma, high := found[0], found[1], found[2], found[3]
	t.rest = t.rest[len(q):]
	if q[0] != '{' {
		return q, nil
	}
	least, err1 := strconv.Atoi("0" + low)
	most, err2 := strconv.Atoi("0" + high)
	if err := errors.Join(err1, err2); err != nil || max(least, most) > maxRepeat || high != "" && most < least {
		return "", fmt.Errorf("a count of %s is not understood", q)
	}
	q = fmt.Sprintf("{%d%s%s}", least, comma, high)
	if comma != "" && t.take("?") {
		return q + "?", nil
	}
	return q, nil
}

// escape translates a backslash and what follows it, outside a class.
func (t *translator) escape(f flags) (atom, error) {
	for source, text := range map[string]string{`\A`: `\A`, `\z`: `\z`, `\Z`: lastLineEnd, `\b`: border,
		`\B`: noBorder} {
		if t.take(source) {
			return atom{text, true}, nil
		}
	}
	items, negated, err := t.kind(f)
	if err != nil {
		return atom{}, err
	}
	if items == wordItems {
		items += latinItems
	}
	switch {
	case negated:
		return atom{text: "[^" + items + "]"}, nil
	case items != "":
		return atom{text: "[" + items + "]"}, nil
	}
	r, err := t.character()
	if err != nil {
		return atom{}, err
	}
	return t.literal(r, f)
}

// kind reads an escape that stands for a kind of character and returns it as the items of a class; "" if what comes
// next is another escape.
func (t *translator) kind(f flags) (items string, negated bool, err error) {
	for _, k := range []struct{ source, items string }{
		{`s`, `\s`}, {`d`, `\p{Nd}`}, {`h`, `0-9A-Fa-f`}, {`w`, wordItems},
	} {
		if t.take(`\` + k.source) {
			return t.folding(k.items, false, f)
		}
		if t.take(`\` + strings.ToUpper(k.source)) {
			return t.folding(k.items, true, f)
		}
	}
	negated = strings.HasPrefix(t.rest, `\P{`)
	if !negated && !strings.HasPrefix(t.rest, `\p{`) {
		return "", false, nil
	}
	name, after, closed := strings.Cut(t.rest[len(`\p{`):], "}")
	bare, inverted := strings.CutPrefix(name, "^")
	if !closed || unicode.Categories[bare] == nil && unicode.Scripts[bare] == nil {
		return "", false,
			fmt.Errorf("property %q is not known: want a category such as L or Nd, or a script such as Han", name)
	}
	t.rest = after
	return t.folding(`\p{`+bare+`}`, negated != inverted, f)
}

// folding passes a kind of character on, unless ignoring case could make it another one.
func (t *translator) folding(items string, negated bool, f flags) (string, bool, error) {
	t.folded = 0
	if f.fold && items != `\s` && items != `\p{Nd}` && items != `\p{N}` {
		return "", false, fmt.Errorf("%s where case is ignored is not understood", items)
	}
	return items, negated, nil
}

// character reads an escape that stands for one character.
func (t *translator) character() (rune, error) {
	if t.rest == `\` {
		return 0, errors.New("a backslash at the end")
	}
	t.take(`\`)
	r := t.next()
	switch i := strings.IndexRune("tnrfvae", r); {
	case i >= 0:
		return rune("\t\n\r\f\v\a\x1b"[i]), nil
	case r == 'u':
		return t.hexadecimal(r, 4, unicode.MaxRune)
	case r == 'x' && t.take("{"):
		digits, after, closed := strings.Cut(t.rest, "}")
		if !closed {
			return 0, errors.New(`\x{ is not closed`)
		}
		c, err := t.hexadecimal(r, len(digits), unicode.MaxRune)
		t.rest = after
		return c, err
	case r == 'x':
		return t.hexadecimal(r, 2, unicode.MaxASCII) // above, it stands for a byte, not for a character
	}
	if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return 0, fmt.Errorf(`\%c is not understood`, r)
	}
	return r, nil
}

// hexadecimal reads the code of a character, n digits of it.
func (t *translator) hexadecimal(letter rune, n int, highest uint64) (rune, error) {
	digits := t.rest[:min(n, len(t.rest))]
	code, err := strconv.ParseUint(digits, 16, 32)
	if len(digits) < n || err != nil || code > highest || !utf8.ValidRune(rune(code)) {
		return 0, fmt.Errorf(`\%c with the digits %q is not a character`, letter, digits)
	}
	t.rest = t.rest[n:]
	return rune(code), nil
}

// quoteRune writes a character so that it stands for itself, in a class and outside.
func quoteRune(r rune) string {
	switch {
	case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)), r > 0xFFFF:
		return string(r)
	}
	return fmt.Sprintf(`\u%04X`, r)
}

// class translates a bracketed class.
func (t *translator) class(f flags) (string, error) {
	t.take("[")
	open := "["
	if t.take("^") {
		if f.fold {
			return "", errors.New("a negated class where case is ignored is not understood")
		}
		open = "[^"
	}
	items, err := t.classItems(f)
	if err != nil {
		return "", err
	}
	return open + items + "]", nil
}

// classItems translates up to the bracket that closes the class.
func (t *translator) classItems(f flags) (string, error) {
	var out strings.Builder
	for t.rest != "" {
		if t.take("]") {
			if out.Len() == 0 {
				return "", errors.New(`an empty class is not understood; write ] in a class as \]`)
			}
			return out.String(), nil
		}
		item, err := t.classItem(f)
		if err != nil {
			return "", err
		}
		out.WriteString(item)
	}
	return "", errors.New("unterminated class")
}

func (t *translator) classItem(f flags) (string, error) {
	switch {
	case strings.HasPrefix(t.rest, "&&"):
		return "", errors.New("the intersection of classes (&&) is not understood")
	case strings.HasPrefix(t.rest, "[:"):
		return t.bracketKind(f)
	case strings.HasPrefix(t.rest, "[^"):
		return "", errors.New("a negated class within a class is not understood")
	case t.take("["):
		return t.nested(f)
	case strings.HasPrefix(t.rest, `\`):
		items, negated, err := t.kind(f)
		if err != nil {
			return "", err
		}
		if items != "" {
			if t.ranges() {
				return "", errors.New("a range from a kind of character is not understood")
			}
			return negateItems(items, negated)
		}
	}
	return t.classRange(f)
}

func (t *translator) nested(f flags) (string, error) {
	if t.depth++; t.depth > maxDepth {
		return "", errors.New("classes too deep")
	}
	defer func() { t.depth-- }()
	return t.classItems(f)
}

// bracketKind translates [:space:] and its like.
func (t *translator) bracketKind(f flags) (string, error) {
	for _, k := range []struct{ source, items string }{{"[:space:]", `\s`}, {"[:digit:]", `\p{Nd}`}} {
		if t.take(k.source) {
			items, _, err := t.folding(k.items, false, f)
			return items, err
		}
	}
	return "", errors.New("of the kinds in [: :] only space and digit are understood")
}

// negateItems writes the opposite of a single kind of character for use within a class.
func negateItems(items string, negated bool) (string, error) {
	switch {
	case !negated:
		return items, nil
	case items == `\s`:
		return `\S`, nil
	case strings.HasPrefix(items, `\p`) && strings.Count(items, `\`) == 1:
		return `\P` + items[len(`\p`):], nil
	}
	return "", fmt.Errorf("the opposite of %s within a class is not understood", items)
}

// classRange translates a character or a range of them.
func (t *translator) classRange(f flags) (string, error) {
	low, err := t.classRune(f)
	if err != nil {
		return "", err
	}
	if !t.ranges() {
		return quoteRune(low), nil
	}
	if t.take("-"); strings.HasPrefix(t.rest, "[") || strings.HasPrefix(t.rest, "&&") {
		return "", errors.New("a range to a class is not understood")
	}
	high, err := t.classRune(f)
	if err != nil {
		return "", err
	}
	if high < low {
		return "", fmt.Errorf("the range %c-%c is empty", low, high)
	}
	if t.ranges() {
		return "", errors.New("a range from a range is not understood")
	}
	return quoteRune(low) + "-" + quoteRune(high), nil
}

// ranges reports whether a hyphen comes next that does not stand for itself.
func (t *translator) ranges() bool {
	return strings.HasPrefix(t.rest, "-") && !strings.HasPrefix(t.rest, "-]")
}

func (t *translator) classRune(f flags) (r rune, err error) {
	switch {
	case t.rest == "":
		return 0, errors.New("unterminated class")
	case t.take(`\b`):
		return '\b', nil
	case strings.HasPrefix(t.rest, `\`):
		r, err = t.character()
	default:
		r = t.next()
	}
	if err == nil && f.fold && r >= utf8.RuneSelf {
		err = fmt.Errorf("%q where case is ignored is not understood", r)
	}
	return r, err
}

// The Hugging Face library goes by the tables of Unicode 8 where it tells punctuation and BERT's characters, by those
// of Unicode 9 where it strips accents. Go's tables are of a later version, so characters that have come in since are
// left out, and those whose category has changed since are named.
var unicode8, unicode9 = rangetable.Assigned("8.0.0"), rangetable.Assigned("9.0.0")

// isWord is the \w of the Whitespace pre-tokenizer: Alphabetic, marks, decimal digits, connecting punctuation and the
// two joiners (Unicode TS 18, annex C). In a Split pattern \w is another set, see wordItems.
func isWord(r rune) bool {
	if r < 128 {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic,
		unicode.Join_Control)
}

// isPunctuation is category P, within ASCII the symbols as well, and two signs that have changed category since.
func isPunctuation(r rune) bool {
	if r < 128 {
		return '!' <= r && r <= '~' && !isWord(r) || r == '_'
	}
	return unicode.Is(unicode.P, r) && unicode.Is(unicode8, r) || r == 0x166D || r == 0x111C9
}

// isAccent reports whether StripAccents drops r: all marks.
func isAccent(r rune) bool {
	return unicode.Is(unicode.M, r) && unicode.Is(unicode9, r) && r != 0x111C9 || r == 0x1CF2 || r == 0x1CF3
}

// isNonspacing reports whether BERT drops r: nonspacing marks.
func isNonspacing(r rune) bool {
	return unicode.Is(unicode.Mn, r) && unicode.Is(unicode8, r) &&
		!strings.ContainsRune("\u1885\u1886\uA9BD\U000111C9", r) || r == 0x1734
}

// isControl reports whether BERT removes r: control, format and private use characters, but no tab, line feed or
// carriage return. unicode.C will not do, since it holds unassigned code points.
func isControl(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && unicode.Is(unicode8, r)
}

// isIdeograph says whether BERT sets blanks around r: the CJK blocks that its authors listed, gap included.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4DBF, 0x4E00 <= r && r <= 0x9FFF, 0xF900 <= r && r <= 0xFAFF:
		return true
	case 0x20000 <= r && r <= 0x2A6DF, 0x2A700 <= r && r <= 0x2B81F, 0x2B920 <= r && r <= 0x2CEAF,
		0x2F800 <= r && r <= 0x2FA1F:
		return true
	}
	return false
}

// lower makes small letters one character at a time, whatever stands around it (no final sigma). U+0130 alone becomes
// two.
func lower(text string) string {
	const dottedCapital = '\u0130'
	small := strings.Map(func(r rune) rune {
		if r == dottedCapital {
			return r
		}
		return unicode.ToLower(r)
	}, text)
	return strings.ReplaceAll(small, string(dottedCapital), "i\u0307")
}

// without removes the characters that drop says yes to.
func without(text string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if drop(r) {
			return -1
		}
		return r
	}, text)
}
