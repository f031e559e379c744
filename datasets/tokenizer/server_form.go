package tokenizer

// form is how a server wants to be asked for tokens.
//
//	         /tokenize                          answers        /detokenize                    answers
//	vLLM     model, prompt, add_special_tokens  count, tokens  model, tokens                  prompt
//	SGLang   the same                           the same       and skip_special_tokens=false  text
//	llama.cpp  content, add_special             tokens         tokens                         content
type form int

const (
	vLLM form = iota
	sgLang
	llamaCPP
)

func (f form) String() string { return [...]string{"vLLM", "SGLang", "llama.cpp"}[f] }

// tokenize is the body that asks for the tokens of text.
func (f form) tokenize(model, text string, addSpecial bool) any {
	if f == llamaCPP {
		return struct {
			Content    string `json:"content"`
			AddSpecial bool   `json:"add_special"`
		}{text, addSpecial}
	}
	return struct {
		Model            string `json:"model"`
		Prompt           string `json:"prompt"`
		AddSpecialTokens bool   `json:"add_special_tokens"`
	}{model, text, addSpecial}
}

type tokenizeReply struct {
	Count  *int  `json:"count"`
	Tokens []int `json:"tokens"`
}

// counted names the field that tells the number of tokens.
func (f form) counted() string {
	if f == llamaCPP {
		return "tokens"
	}
	return "count"
}

// detokenize is the body that asks for the text of ids, special ones included.
func (f form) detokenize(model string, ids []int) any {
	switch f {
	case sgLang:
		return struct {
			Model  string `json:"model"`
			Tokens []int  `json:"tokens"`
			Skip   bool   `json:"skip_special_tokens"`
		}{model, ids, false}
	case llamaCPP:
		return struct {
			Tokens []int `json:"tokens"`
		}{ids}
	}
	return struct {
		Model  string `json:"model"`
		Tokens []int  `json:"tokens"`
	}{model, ids}
}

type detokenizeReply struct {
	Prompt  *string `json:"prompt"`
	Text    *string `json:"text"`
	Content *string `json:"content"`
}

// in is the text as the form tells it, or nil.
func (r detokenizeReply) in(f form) *string {
	return [...]*string{r.Prompt, r.Text, r.Content}[f]
}

// decoded names the field that tells the text of ids.
func (f form) decoded() string { return [...]string{"prompt", "text", "content"}[f] }
