package tokenizer

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// translator rewrites an Oniguruma expression (Ruby's syntax, as the Hugging Face library uses it) for regexp2. It
// knows the syntax that the two languages share and the differences listed here, and refuses everything else:
//
//	^ $      begin and end of every line, always
//	(?m:…)   the dot matches a line feed too
//	{n,m}+   the repeat repeated, not a possessive one
//	{,m}     from none to m
//	{n}?     optional, not lazy
//	\h       a hexadecimal digit
//	\w \b    word characters as Oniguruma counts them, and their borders
//	[a[b]]   a class within a class
//	(…)      groups only: nothing captured is used
//	(?i:ss)  matches ß too: refused
type translator struct {
	rest   string
	depth  int
	folded rune // the letter just read where case is ignored; 0 for none
}

// flags are the options in force within a group.
type flags struct{ fold, dotAll bool }

// atom is an expression that a quantifier may follow.
type atom struct {
	text     string
	position bool // matches no character, so repeating it means nothing
}

// Groups deeper than this were not written by a person.
const maxDepth = 100

const (
	// Alphabetic, marks, decimal digits and connecting punctuation. Outside a class, the raised digits and the
	// fractions of Latin-1 too.
	wordItems   = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\p{Other_Alphabetic}`
	latinItems  = `\u00B2\u00B3\u00B9\u00BC-\u00BE`
	word        = `[` + wordItems + latinItems + `]`
	border      = `(?:(?<=` + word + `)(?!` + word + `)|(?<!` + word + `)(?=` + word + `))`
	noBorder    = `(?:(?<=` + word + `)(?=` + word + `)|(?<!` + word + `)(?!` + word + `))`
	lineStart   = `(?:\A|(?<=\n)(?!\z))`
	lineEnd     = `(?=\n|\z)`
	lastLineEnd = `(?=\n?\z)`
	anything    = `[\s\S]`
)

func translate(source string) (string, error) {
	if !utf8.ValidString(source) {
		return "", errors.New("not UTF-8")
	}
	t := &translator{rest: source}
	out, err := t.alternatives(flags{})
	if err == nil && t.rest != "" {
		err = errors.New("a ) that closes nothing")
	}
	if err != nil {
		return "", fmt.Errorf("at byte %d: %w", len(source)-len(t.rest), err)
	}
	return out, nil
}

// alternatives translates up to the end of the group or of the pattern.
func (t *translator) alternatives(f flags) (string, error) {
	var out strings.Builder
	if t.take("(?i)") {
		// At the start of a group both libraries let it hold for all of it; elsewhere they disagree about the
		// alternatives that follow.
		out.WriteString("(?i)")
		f.fold = true
	}
	for t.rest != "" && t.rest[0] != ')' {
		if t.take("|") {
			t.folded = 0
			out.WriteByte('|')
			continue
		}
		item, err := t.repeated(f)
		if err != nil {
			return "", err
		}
		out.WriteString(item)
	}
	return out.String(), nil
}

// repeated translates an atom and the quantifiers after it.
func (t *translator) repeated(f flags) (string, error) {
	a, err := t.atom(f)
	if err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		quantifier, err := t.quantifier()
		switch {
		case err != nil:
			return "", err
		case quantifier == "":
			return a.text, nil
		case a.position:
			return "", errors.New("a quantifier after a position")
		case n >= maxDepth:
			return "", errors.New("too many quantifiers on one another")
		case n > 0:
			a.text = "(?:" + a.text + ")"
		}
		a.text += quantifier
	}
}

func (t *translator) atom(f flags) (atom, error) {
	switch t.rest[0] {
	case '(':
		return t.group(f)
	case '[':
		t.folded = 0
		text, err := t.class(f)
		return atom{text: text}, err
	case '\\':
		return t.escape(f)
	}
	switch {
	case t.take("."):
		t.folded = 0
		if f.dotAll {
			return atom{text: anything}, nil
		}
		return atom{text: "."}, nil
	case t.take("^"):
		return atom{lineStart, true}, nil
	case t.take("$"):
		return atom{lineEnd, true}, nil
	}
	if quantifier, err := t.quantifier(); quantifier != "" || err != nil {
		return atom{}, errors.New("a quantifier after nothing")
	}
	return t.literal(t.next(), f)
}

// literal translates a character that stands for itself.
func (t *translator) literal(r rune, f flags) (atom, error) {
	before := t.folded
	t.folded = 0
	if f.fold {
		if r >= utf8.RuneSelf {
			return atom{}, fmt.Errorf("%q where case is ignored is not understood", r)
		}
		t.folded = r | 0x20
		if expands(before, t.folded) {
			return atom{},
				fmt.Errorf("%q where case is ignored would match a single letter as well", string(before)+string(r))
		}
	}
	return atom{text: quoteRune(r)}, nil
}

// expands says whether two small letters are what a ligature or ß becomes when case is folded in full.
func expands(a, b rune) bool {
	switch a {
	case 's':
		return b == 's' || b == 't'
	case 'f':
		return b == 'f' || b == 'i' || b == 'l'
	}
	return false
}

// group translates a group, a look around, or a group with flags of its own.
func (t *translator) group(f flags) (atom, error) {
	if t.depth++; t.depth > maxDepth {
		return atom{}, errors.New("groups too deep")
	}
	defer func() { t.depth-- }()
	open, err := t.opening(&f)
	if err != nil {
		return atom{}, err
	}
	position := strings.ContainsAny(open, "=!")
	inner, err := t.alternatives(f)
	if err != nil {
		return atom{}, err
	}
	if !t.take(")") {
		return atom{}, errors.New("unterminated group")
	}
	return atom{open + inner + ")", position}, nil
}

// opening reads what a group begins with, up to its first alternative.
func (t *translator) opening(f *flags) (string, error) {
	for _, open := range []string{"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"} {
		if t.take(open) {
			return open, nil
		}
	}
	if !t.take("(?") {
		t.take("(")
		return "(?:", nil
	}
	for on := true; t.rest != ""; {
		switch r := t.next(); r {
		case '-':
			on = false
		case 'i':
			f.fold = on
		case 'm':
			f.dotAll = on
		case ':':
			if f.fold {
				return "(?i:", nil
			}
			return "(?-i:", nil
		default:
			return "", fmt.Errorf("a group that begins with (? and %q is not understood here", r)
		}
	}
	return "", errors.New("unterminated group")
}

// take reads prefix if it comes next.
func (t *translator) take(prefix string) bool {
	rest, ok := strings.CutPrefix(t.rest, prefix)
	t.rest = rest
	return ok
}

// next reads a character; there must be one.
func (t *translator) next() rune {
	r, size := utf8.DecodeRuneInString(t.rest)
	t.rest = t.rest[size:]
	return r
}
