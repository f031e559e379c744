package datasets

import (
	"fmt"
	"io"
)

// readAllText reads a text as Python reads one: however lines end, they end in \n afterwards. It refuses texts of more
// than limit MiB.
func readAllText(r io.Reader, limit int) (string, error) {
	text, err := newTextReader(r)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(text, int64(limit)<<20+1))
	if err != nil {
		return "", cause(err)
	}
	if len(data) > limit<<20 {
		return "", fmt.Errorf("the text is larger than %d MiB; cut it down, with head -c", limit)
	}
	return universalNewlines(data), nil
}

// universalNewlines turns \r\n and \r into \n. It changes data.
func universalNewlines(data []byte) string {
	out := data[:0]
	for i, c := range data {
		if c == '\r' {
			if i+1 < len(data) && data[i+1] == '\n' {
				continue
			}
			c = '\n'
		}
		out = append(out, c)
	}
	return string(out)
}
