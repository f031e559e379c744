package datasets

import (
	"context"
	"math"
	"strconv"
	"strings"
)

// longDocuments are documents of one word, again and again, as vLLM's benchmark of long documents has them.
type longDocuments struct {
	Common
	Length int // words, of about a token each
}

// longDocumentOutput is the length of answers in tokens, as vLLM has it.
const longDocumentOutput = 10

// mostDocumentWords bounds the memory of all documents, at three bytes a word.
const mostDocumentWords = 1 << 28

func (o longDocuments) check() error {
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	p.between("document length", o.Length, 1, maxLen)
	if o.Prompts > 0 && o.Length > mostDocumentWords/o.Prompts {
		p.add("%d documents of %d words: more than %d words in all; ask for fewer or shorter ones", o.Prompts, o.Length,
			mostDocumentWords)
	}
	return p.of("long_document_qa")
}

func (o *longDocuments) Define(group func(string) Flags) {
	group("Data set long_document_qa").IntVar(&o.Length, "document-length", o.Length,
		"words of each document, of about a token each")
}

func (o longDocuments) needs() Needs {
	return Needs{Forms: AsText, Ends: true, Counts: true, OutputLen: o.outputLen(longDocumentOutput)}
}

// open makes documents that differ in the number that they begin with. Their order is that of the numbers.
func (o longDocuments) open(ctx context.Context, t Tools) (Flow, error) {
	turns := make([]Turn, o.Prompts)
	words := strings.TrimSuffix(strings.Repeat("hi ", o.Length), " ")
	for i := range turns {
		turns[i] = Turn{Text: strconv.Itoa(i) + words, InputTokens: o.Length + 1,
			MaxTokens: o.outputLen(longDocumentOutput)}
	}
	if err := t.Text().countTexts(ctx, turns); err != nil {
		return Flow{}, inDataset("long_document_qa", err)
	}
	return o.list("long_document_qa", turns, o.Prompts,
		strconv.Itoa(o.Length)+" words"+o.answers(strconv.Itoa(turns[0].MaxTokens)), t.Streams().Python)
}
