package tokenizer

import (
	"slices"
	"testing"
)

// The ids are those of the Hugging Face library 0.23.3.
func TestAddedTokensBesideGaps(t *testing.T) {
	l, err := Read(Files{Tokenizer: []byte(`{"model":{"type":"WordLevel","vocab":{"?":0,"x":1,"u":7},"unk_token":"?"},"added_tokens":[
		{"id":3,"content":"n1","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
		{"id":4,"content":"u","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false},
		{"id":5,"content":"n2","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := l.Encode("n1un2x"); err != nil || !slices.Equal(ids, []int{3, 7, 4, 1}) {
		t.Errorf("got ids %v, error %v, want 3, 7, 4, 1", ids, err)
	}
	if want := []int{0, 1, 3, 4, 7}; !slices.Equal(l.IDs(), want) {
		t.Errorf("got all ids %v, want %v", l.IDs(), want)
	}
}

// An added token of white space that takes more of it on both sides. The ids are those of the Hugging Face library
// 0.23.3, which fails where this one does.
func TestAddedWhiteSpaceTakesWhiteSpace(t *testing.T) {
	const file = `{"model":{"type":"WordLevel","vocab":{"?":0," ":1,"\n":2},"unk_token":"?"},"added_tokens":[
		{"id":1,"content":" ","single_word":false,"lstrip":true,"rstrip":true,"normalized":false,"special":false},
		{"id":2,"content":"\n","single_word":false,"lstrip":true,"rstrip":false,"normalized":false,"special":false}]}`
	l, err := Read(Files{Tokenizer: []byte(file)})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		want []int // nil for an error
	}{
		{" ", []int{1}},
		{"  ", []int{1}},
		{"a   b", []int{0, 1, 0}},
		{" \n", []int{1}},
		{"\n ", []int{2, 1}},
		{" \n ", nil},
	} {
		ids, err := l.Encode(test.text)
		if (err != nil) != (test.want == nil) || !slices.Equal(ids, test.want) {
			t.Errorf("%q: got ids %v, error %v, want %v", test.text, ids, err, test.want)
		}
	}
}
