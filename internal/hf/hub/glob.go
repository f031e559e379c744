package hub

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// magic are the characters that make a name a pattern.
const magic = "*?["

// glob makes a regular expression of a pattern such as data/**/train-*.parquet, by the rules of Python's fsspec: * and
// ? stay within a folder, ** is any number of folders and stands alone between slashes, [a-z] and [!a-z] are sets.
func glob(pattern string) (*regexp.Regexp, error) {
	const inFolder = `[^/]`
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case part == "**" && last:
			b.WriteString(`.*`)
		case part == "**":
			b.WriteString(`(?:.+/)?`)
		case strings.Contains(part, "**"):
			return nil, fmt.Errorf("pattern %q: ** stands for whole folders", pattern)
		case part == "*":
			b.WriteString(inFolder + `+`)
		default:
			globPart(&b, part, inFolder)
		}
		if part != "**" && !last {
			b.WriteByte('/')
		}
	}
	b.WriteString(`)\z`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q is not one of file names", pattern)
	}
	return re, nil
}

// globPart translates what stands between slashes.
func globPart(b *strings.Builder, part, one string) {
	for part != "" {
		c := part[0]
		end := 0 // of a set
		if c == '[' {
			end = setEnd(part)
		}
		switch {
		case c == '*':
			b.WriteString(one + `*`)
			part = part[1:]
		case c == '?':
			b.WriteString(one)
			part = part[1:]
		case end > 0:
			globSet(b, part[1:end])
			part = part[end+1:]
		default:
			next := cmp.Or(strings.IndexAny(part[1:], magic)+1, len(part))
			b.WriteString(regexp.QuoteMeta(part[:next]))
			part = part[next:]
		}
	}
}

// setEnd is where the set ends with which a part begins, 0 where it is none. A ] that comes first is a member.
func setEnd(part string) int {
	from := 1
	if strings.HasPrefix(part[from:], "!") {
		from++
	}
	if strings.HasPrefix(part[from:], "]") {
		from++
	}
	end := strings.IndexByte(part[from:], ']')
	if end < 0 {
		return 0
	}
	return from + end
}

// globSet translates the members of a set. A range from high to low has none.
func globSet(b *strings.Builder, set string) {
	members, negated := strings.CutPrefix(set, "!")
	runes := []rune(members)
	var ranges strings.Builder
	for i := 0; i < len(runes); i++ {
		low, high := runes[i], runes[i]
		if i+2 < len(runes) && runes[i+1] == '-' {
			high, i = runes[i+2], i+2
		}
		if low <= high {
			fmt.Fprintf(&ranges, `\x{%x}-\x{%x}`, low, high)
		}
	}
	switch {
	case ranges.Len() > 0 && negated:
		b.WriteString(`[^` + ranges.String() + `]`)
	case ranges.Len() > 0:
		b.WriteString(`[` + ranges.String() + `]`)
	case negated:
		b.WriteString(`.`)
	default:
		b.WriteString(`[^\x{0}-\x{10ffff}]`) // nothing
	}
}
