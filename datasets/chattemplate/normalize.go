package chattemplate

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// normalizer writes a template anew so that gonja reads it as Jinja2 does: blanks around tags are settled (trim_blocks and
// lstrip_blocks), comments are gone, every tag is a row of words in a form that gonja parses right.
type normalizer struct {
	out  strings.Builder
	open []block    // the blocks around the current tag
	tags []position // in order
}

// position tells on which line of the source a tag was that is now at an offset in bytes.
type position struct{ offset, line int }

func normalize(source string) (string, []position, error) {
	source = strings.TrimSuffix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source), "\n")
	n := &normalizer{}
	lineStart := true
	for rest := source; rest != ""; {
		i := opener(rest)
		if i < 0 {
			n.data(rest)
			break
		}
		line := 1 + strings.Count(source[:len(source)-len(rest)+i], "\n")
		data, kind, sign := rest[:i], rest[i+1], byte(0)
		rest = rest[i+2:]
		if rest != "" && (rest[0] == '-' || rest[0] == '+') {
			sign, rest = rest[0], rest[1:]
		}
		n.data(trimBefore(data, kind, sign, lineStart))
		var tag []string
		var closing string
		var err error
		if kind == '#' {
			closing, rest, err = skipComment(rest)
		} else if tag, closing, rest, err = words(rest, kind); err == nil {
			if kind == '%' && len(tag) == 1 && tag[0] == "raw" {
				closing, rest, err = n.raw(closing, rest)
			} else {
				err = n.tag(kind, tag, line)
			}
		}
		if err != nil {
			return "", nil, located{line, err}
		}
		trimmed := rest
		if closing == "-" {
			trimmed = strings.TrimLeftFunc(rest, isSpace)
		} else if closing == "" && kind != '{' {
			trimmed = strings.TrimPrefix(rest, "\n")
		}
		lineStart = strings.HasSuffix(rest[:len(rest)-len(trimmed)], "\n")
		rest = trimmed
	}
	if len(n.open) > 0 {
		return "", nil, fmt.Errorf("the tag %s lacks its end", n.open[len(n.open)-1].name)
	}
	return n.out.String(), n.tags, nil
}

// opener returns where the next tag begins, or -1.
func opener(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '{' && strings.IndexByte("{%#", s[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// trimBefore takes off the blanks that the tag after data swallows.
func trimBefore(data string, kind, sign byte, lineStart bool) string {
	if sign == '-' {
		return strings.TrimRightFunc(data, isSpace)
	}
	last := strings.LastIndexByte(data, '\n') + 1
	if sign == 0 && kind != '{' && (last > 0 || lineStart) && strings.TrimFunc(data[last:], isSpace) == "" {
		return data[:last]
	}
	return data
}

func skipComment(s string) (closing, rest string, err error) {
	i := strings.Index(s, "#}")
	if i < 0 {
		return "", "", errors.New("a comment is not closed")
	}
	if i > 0 && (s[i-1] == '-' || s[i-1] == '+') {
		closing = s[i-1 : i]
	}
	return closing, s[i+2:], nil
}

var endRaw = regexp.MustCompile(`\{%([-+]?)\s*endraw\s*([-+]?)%\}`)

// raw writes what stands between raw and endraw as it is, and returns how endraw ends and what comes after it.
func (n *normalizer) raw(opening, s string) (closing, rest string, err error) {
	at := endRaw.FindStringSubmatchIndex(s)
	if at == nil {
		return "", "", errors.New("the tag raw lacks its end")
	}
	data, start := s[:at[0]], false
	switch opening {
	case "+":
		return "", "", errors.New("raw cannot end with +")
	case "-":
		data = strings.TrimLeftFunc(data, isSpace)
		start = strings.HasSuffix(s[:at[0]-len(data)], "\n")
	}
	var sign byte
	if at[3] > at[2] {
		sign = s[at[2]]
	}
	n.data(trimBefore(data, '%', sign, start))
	return s[at[4]:at[5]], s[at[1]:], nil
}

// data writes text between tags. A brace could open a tag together with what follows, so it goes as an expression.
func (n *normalizer) data(s string) {
	if strings.Contains(s, "{") {
		s = "{{ " + literal(s) + " }}"
	}
	n.out.WriteString(s)
}

// write writes a tag.
func (n *normalizer) write(kind byte, line int, tag []string) {
	n.tags = append(n.tags, position{n.out.Len(), line})
	end := map[byte]string{'{': "}}", '%': "%}"}[kind]
	n.out.WriteString("{" + string(kind) + " " + strings.Join(tag, " ") + " " + end)
}

// isSpace tells Python's blanks, which are Unicode's and four control characters.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
