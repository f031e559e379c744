package datasets

// Bounds in tokens on what is taken from files: longer texts would not fit older models, shorter ones measure nothing.
const (
	minTokens    = 4    // of prompt and output each
	maxPrompt    = 1024 // of the prompt
	maxSequence  = 2048 // of both together
	lengthFilter = "4 to 1024 prompt tokens, 4 or more output tokens, 2048 together at most"
)

// fitsLength reports whether a prompt and its output are of a length to be taken. The minimum for the output holds
// only where the file decides its length.
func fitsLength(prompt, output int, outputForced bool) bool {
	return prompt >= minTokens && prompt <= maxPrompt &&
		(outputForced || output >= minTokens) && prompt+output <= maxSequence
}
