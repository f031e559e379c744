package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// reading makes a tokenizer of one word, with other parts.
func reading(parts string) (*Local, error) {
	return Read(Files{
		Tokenizer: []byte(
			`{` + parts + `,"model":{"type":"WordLevel","vocab":{"a":0,"[UNK]":1},"unk_token":"[UNK]"}}`)})
}

// A file of a few kilobytes must not ask for more memory than there is.
func TestGrowthIsBounded(t *testing.T) {
	replace := func(pattern, content string) string {
		return fmt.Sprintf(`{"type":"Replace","pattern":%s,"content":%q}`, pattern, content)
	}
	times := func(n int, list, stage string) string {
		return fmt.Sprintf(`{"type":"Sequence","%s":[%s]}`, list, strings.Join(slices.Repeat([]string{stage}, n), ","))
	}
	ten := replace(`{"String":"a"}`, strings.Repeat("a", 10))
	long := strings.Repeat("a", 10_000)
	const letters = `{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}`
	blob := binary.LittleEndian.AppendUint32(nil, 4)
	blob = append(append(blob, 0, 0, 0, 0), long...)
	for _, c := range []struct{ name, parts, want string }{
		{"a stage by stage", `"normalizer":` + times(40, "normalizers", ten), "more than 64 times as long"},
		{"sequences in one another", `"normalizer":` + times(9, "normalizers", times(9, "normalizers", ten)),
			"more than 64 times as long"},
		{"a replacement", `"normalizer":` + replace(`{"String":"a"}`, long), "content of 10000 bytes"},
		{"of nothing", `"normalizer":` + replace(`{"Regex":"x*"}`, long), "content of 10000 bytes"},
		{"what is put before", `"normalizer":{"type":"Prepend","prepend":"` + long + `"}`, "10000 bytes to prepend"},
		{"a map of characters",
			`"normalizer":{"type":"Precompiled","precompiled_charsmap":"` + base64.StdEncoding.EncodeToString(blob) +
				`"}`, "a replacement of 10000 bytes"},
		{"letters of letters", `"pre_tokenizer":` + times(60, "pretokenizers", letters), "more than 64 times as long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := reading(c.parts)
			if err == nil {
				_, err = l.Encode(strings.Repeat("a", 1000) + strings.Repeat("\x01", 1000))
			}
			complains(t, err, c.want)
		})
	}
	// Models stay far from it.
	l, err := reading(`"normalizer":` + times(3, "normalizers", replace(`{"String":" "}`, "▁")) + `,"pre_tokenizer":` +
		times(2, "pretokenizers", letters))
	assert.Fine(t, err)
	assert.Fine(t, assert.Failure(l.Encode(" a \x01")))
}

// White space that tokens on both sides take is gone through once, not once for every token: 200,000 blanks took
// minutes.
func TestStrippingTokensInWhiteSpace(t *testing.T) {
	const token = `{"id":5,"content":" ","lstrip":%t,"rstrip":%t,"normalized":false,"special":true,"single_word":false}`
	for _, c := range []struct{ left, right bool }{{true, false}, {false, true}, {true, true}} {
		l := assert.Must(reading(`"added_tokens":[` + fmt.Sprintf(token, c.left, c.right) + `]`))(t)
		for text, want := range map[string]int{strings.Repeat(" ", 200_000): 200_000,
			strings.Repeat(" ", 200_000) + "a" + strings.Repeat(" ", 7): 200_008} {
			if c.left && c.right { // the first takes all
				want = 1 + 2*strings.Count(text, "a")
			}
			assert.Equal(t, len(assert.Must(l.Encode(text))(t)), want, "%+v", c)
		}
	}
}
