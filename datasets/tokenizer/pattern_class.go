package tokenizer

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

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
	return "", errors.New("a class that is not closed")
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
			if strings.HasPrefix(t.rest, "-") && !strings.HasPrefix(t.rest, "-]") {
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
	if !strings.HasPrefix(t.rest, "-") || strings.HasPrefix(t.rest, "-]") {
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
	if strings.HasPrefix(t.rest, "-") && !strings.HasPrefix(t.rest, "-]") {
		return "", errors.New("a range from a range is not understood")
	}
	return quoteRune(low) + "-" + quoteRune(high), nil
}

func (t *translator) classRune(f flags) (r rune, err error) {
	switch {
	case t.rest == "":
		return 0, errors.New("a class that is not closed")
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
