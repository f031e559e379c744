// Package pyjson writes JSON byte for byte as Python's json.dumps does: one blank after commas and colons and none
// elsewhere, ASCII alone, a float always recognisable as one. Request bodies and result files have that form.
package pyjson

import "strings"

// Append appends valid JSON the way Python would write it after reading it. What differs from Python: an object's
// repeated names, of which Python keeps the last, stay as they are, and so does a number too large for a 64-bit float,
// for which Python would write what is not JSON. Text that is not JSON gives text that is not JSON either.
func Append(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch b := raw[i]; b {
		case ' ', '\t', '\n', '\r':
			i++
		case ',', ':':
			dst = append(dst, b, ' ')
			i++
		case '"':
			n := 0
			dst, n = appendLiteral(dst, raw[i:])
			i += n
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			n := 1
			for i+n < len(raw) && strings.IndexByte("+-.0123456789eE", raw[i+n]) >= 0 {
				n++
			}
			dst = appendNumber(dst, string(raw[i:i+n]))
			i += n
		default:
			dst = append(dst, b)
			i++
		}
	}
	return dst
}
