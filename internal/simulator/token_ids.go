package simulator

import "bytes"

// Prompts as token ids are long: a general decoder of JSON takes half a second for a million of them. These functions
// read what is usual, plain lists of whole numbers, and leave all else to that decoder, errors included.

// cutPrompt returns the token ids of the member "prompt" of a request, and the request with an empty list in their
// place. It returns nil where the prompt is something else, and where body is not plainly an object.
func cutPrompt(body []byte) (rest []byte, all []prompt) {
	i := skipSpace(body, 0)
	if i == len(body) || body[i] != '{' {
		return nil, nil
	}
	from, to := 0, 0
	for i++; ; i++ { // behind the brace or a comma
		from = skipSpace(body, i)
		name, end := skipValue(body, from), 0
		if end = skipSpace(body, name); end >= len(body) || body[end] != ':' {
			return nil, nil
		}
		key := body[from:name]
		value := skipSpace(body, end+1)
		switch {
		case string(key) == `"prompt"` && all == nil:
			if all, to = readPrompts(body, value); all == nil {
				return nil, nil
			}
			rest = append(append(append(make([]byte, 0, len(body)-(to-value)+2), body[:value]...), "[]"...),
				body[to:]...)
			i = to
		case bytes.EqualFold(key, []byte(`"prompt"`)), bytes.IndexByte(key, '\\') >= 0:
			return nil, nil // of several, the decoder knows which one counts
		default:
			i = skipValue(body, value)
		}
		if i = skipSpace(body, i); i >= len(body) || body[i] != ',' {
			return rest, all // whether it ends well, the decoder finds out
		}
	}
}

// readPrompts reads a list of token ids, or a list of such lists, that begins at i. It returns nil where there is none.
func readPrompts(text []byte, i int) (all []prompt, end int) {
	if one, end := readIDs(text, i); one != nil {
		return []prompt{one}, end
	}
	if i >= len(text) || text[i] != '[' {
		return nil, 0
	}
	for {
		one, end := readIDs(text, skipSpace(text, i+1))
		if one == nil {
			return nil, 0
		}
		all = append(all, one)
		if i = skipSpace(text, end); i < len(text) && text[i] == ']' {
			return all, i + 1
		}
		if i >= len(text) || text[i] != ',' {
			return nil, 0
		}
	}
}

// longestID is the number of digits that surely fit a token id.
const longestID = 9

// readIDs reads a list of token ids, at least one, that begins at i. It returns nil where there is none.
func readIDs(text []byte, i int) (ids prompt, end int) {
	if i >= len(text) || text[i] != '[' {
		return nil, 0
	}
	length := bytes.IndexByte(text[i:], ']')
	if length < 0 {
		return nil, 0
	}
	list := text[i+1 : i+length+1] // with the end, so that each number has a byte behind it
	if first := skipSpace(list, 0); list[first] < '0' || list[first] > '9' {
		return nil, 0
	}
	ids = make(prompt, 0, bytes.Count(list, []byte{','})+1)
	for j := 0; ; j++ {
		j = skipSpace(list, j)
		id, from := 0, j
		for ; list[j]-'0' <= 9; j++ {
			id = id*10 + int(list[j]-'0')
		}
		if n := j - from; n == 0 || n > longestID || n > 1 && list[from] == '0' {
			return nil, 0
		}
		ids = append(ids, id)
		if j = skipSpace(list, j); list[j] == ']' {
			return ids, i + length + 1
		}
		if list[j] != ',' {
			return nil, 0
		}
	}
}

// skipSpace returns the place of the first byte from i on that is not white space.
func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the end of the value that begins at i. Of what is not JSON it returns any place behind i, or the
// end.
func skipValue(text []byte, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			if i = skipText(text, i); depth == 0 {
				return i
			}
			i--
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth <= 0 {
				return i + max(0, depth+1)
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// skipText returns the end of the text in quotes that begins at i.
func skipText(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
