package datasets

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// hfClass is a layout of data sets on the hub that vLLM's client knows. Values of a row are named by paths such as
// turns[0]; those of the prompt stand in braces.
type hfClass struct {
	name string
	ids  []string // of the data sets on the hub

	split, subset string // the default ones; "" for those of the data set
	noSubset      bool   // --hf-subset does not count

	prompt string // a text with paths in it
	system string // path of a message before the prompt, "" for none
	answer string // path of the answer whose length is asked for, "" where output is the length
	output int    // tokens asked for where no flag says so, and where there is no answer
	// own keeps the lengths of the answers whatever the flag says.
	own bool

	schema string // path of the JSON schema of the answer, a text; "" for none

	media  string // path of the picture, video or recording, "" for none
	medium hfMedium
	whole  bool // never streamed

	template hfTemplate
	accepted bool // ids number the rows that are accepted; otherwise all
	calls    bool // function calls, which are no rows of a table
	limits   hfLimits

	chat   bool                                         // --enable-multimodal-chat makes messages of texts, too
	loose  bool                                         // rows may lack prompt or answer
	filter string                                       // path of a value that keep looks at besides
	keep   func(row hfValues, o *hfFlags) (bool, error) // of all rows; nil for each
	text   func(value []byte) (string, error)           // of a value in the prompt; nil for strings
	reply  func(value []byte) (string, error)           // the part of the answer that counts; nil for strings
}

// hfMedium is the kind of media beside a prompt.
type hfMedium int

const (
	textAlone hfMedium = iota
	withPicture
	withVideo
	withRecording
)

// hfTemplate is when prompts go through the model's chat template.
type hfTemplate int

const (
	neverRendered hfTemplate = iota
	rendered                 // unless the user skips it
	alwaysRendered
)

// hfLimits are bounds in tokens on the rows that are taken. The zero value has none.
type hfLimits struct {
	most      int  // of the prompt
	total     int  // of prompt and output together
	always    bool // also where a flag gives the output length
	anyOutput bool // an answer may have fewer than minTokens
}

func (l hfLimits) fit(prompt, output int, forced bool) bool {
	if l.most == 0 || forced && !l.always {
		return true
	}
	return prompt >= minTokens && (l.anyOutput || output >= minTokens) && prompt <= l.most && prompt+output <= l.total
}

// String gives the bounds for a person.
func (l hfLimits) String() string {
	if l.anyOutput {
		return fmt.Sprintf("%d or more prompt tokens", minTokens)
	}
	return fmt.Sprintf("%d to %d prompt tokens, %[1]d or more output tokens, %[3]d together at most", minTokens, l.most,
		l.total)
}

//go:embed prompts/instruct_coder.txt
var instructCoderPrompt string

//go:embed prompts/zeta.txt
var zetaPrompt string

//go:embed prompts/blazedit.txt
var blazeditPrompt string

// earningsCalls is the data set of recordings that names its files, instead of holding them.
const earningsCalls = "ArtificialAnalysis/Earnings22-Cleaned-AA"

// hfClasses are the layouts, in the order in which vLLM looks for one.
var hfClasses = []hfClass{
	{name: "VisionArena", ids: []string{"lmarena-ai/VisionArena-Chat"}, split: "train", noSubset: true,
		prompt: "{conversation[0][0].content}", output: 128, media: "images[0]", medium: withPicture},
	{name: "VisionArena", ids: []string{"lmarena-ai/vision-arena-bench-v0.1"}, split: "train", noSubset: true,
		prompt: "{turns[0][0].content}", output: 128, media: "images[0]", medium: withPicture},
	{name: "MMVU", ids: []string{"yale-nlp/MMVU"}, split: "validation", noSubset: true,
		prompt: "{question} {choices}", text: choices, output: 128, media: "video", medium: withVideo},
	{name: "InstructCoder", ids: []string{"likaixin/InstructCoder"}, split: "train",
		prompt: instructCoderPrompt, output: 200, template: rendered},
	{name: "MT-Bench", ids: []string{"philschmid/mt-bench"}, split: "train",
		prompt: "{turns[0]}", output: 256, template: rendered},
	{name: "HumanEval", ids: []string{"openai/openai_humaneval"}, split: "test",
		prompt: "{prompt}", output: 256, template: rendered},
	{name: "GSM8K", ids: []string{"openai/gsm8k"}, split: "test", subset: "main",
		prompt: "{question}", output: 256, template: rendered},
	{name: "MultiModalConversation", ids: []string{"lmms-lab/LLaVA-OneVision-Data"},
		prompt: "{conversations[0].value}", answer: "conversations[1].value", media: "image", medium: withPicture,
		accepted: true, keep: twoTurns, limits: hfLimits{most: maxPrompt, total: maxSequence}},
	{name: "Conversation", ids: []string{"Aeala/ShareGPT_Vicuna_unfiltered"},
		prompt: "{conversations[0].value}", answer: "conversations[1].value", chat: true,
		accepted: true, keep: twoTurns, limits: hfLimits{most: maxPrompt, total: maxSequence}},
	{name: "AIMO", ids: []string{"AI-MO/aimo-validation-aime", "AI-MO/NuminaMath-1.5", "AI-MO/NuminaMath-CoT"},
		split:  "train",
		prompt: "{problem}", answer: "solution", accepted: true, limits: hfLimits{most: 2048, total: 32000}},
	{name: "NextEditPrediction", ids: []string{"zed-industries/zeta"}, split: "train",
		prompt: zetaPrompt, answer: "output", reply: editableRegion, own: true},
	{name: "ASR", ids: []string{"openslr/librispeech_asr", "facebook/voxpopuli", "LIUM/tedlium", "edinburghcstr/ami",
		"speechcolab/gigaspeech",
		"kensho/spgispeech", "D4nt3/esb-datasets-earnings22-validation-tiny-filtered"}, split: "train",
		output: 1024, media: "audio", medium: withRecording, accepted: true},
	{name: "ASR", ids: []string{earningsCalls}, split: "train",
		output: 1024, media: "url", medium: withRecording, whole: true, accepted: true},
	{name: "Blazedit", ids: []string{"vdaita/edit_5k_char", "vdaita/edit_10k_char"}, split: "train",
		prompt: blazeditPrompt, output: 4000, template: rendered, keep: distanceWithin, filter: "norm_distance"},
	{name: "MLPerf", ids: []string{"mgoin/mlperf-inference-llama2-data", "mgoin/mlperf-inference-llama3.1-data"},
		split:  "train",
		prompt: "{question}", system: "system_prompt", answer: "output", template: alwaysRendered, accepted: true,
		limits: hfLimits{most: maxPrompt, total: maxSequence, always: true}},
	{name: "MMStar", ids: []string{"Lin-Chen/MMStar"}, split: "val", noSubset: true,
		prompt: "{question}", text: beforeOptions, output: 128, media: "image", medium: withPicture},
	// vLLM reads it in its benchmark of structured output.
	{name: "JSONMode", ids: []string{"NousResearch/json-mode-eval"}, split: "train",
		prompt: "{prompt[1].content}", system: "prompt[0].content", schema: "schema", output: 128,
		template: alwaysRendered},
	{name: "BFCL", ids: []string{BFCLRepository}, noSubset: true, calls: true},
}

// hfClassOf is the layout of the data set that has one of those names, nil for none.
func hfClassOf(names ...string) *hfClass {
	for i := range hfClasses {
		if slices.ContainsFunc(hfClasses[i].ids, func(id string) bool { return slices.Contains(names, id) }) {
			return &hfClasses[i]
		}
	}
	return nil
}

// HubNames are the names of all data sets on the hub whose layout is known.
func HubNames() (names []string) {
	for _, class := range hfClasses {
		names = append(names, class.ids...)
	}
	return names
}

// choices are the choices of a question as "A.red B.blue", in their order. A question stays as it is.
func choices(value []byte) (string, error) {
	if len(value) == 0 || value[0] != '{' {
		return jsonscan.WholeText(value)
	}
	var pairs []string
	for _, choice := range jsonscan.Dict(value) {
		text := string(choice.Value)
		switch {
		case jsonscan.IsString(choice.Value):
			var err error
			if text, err = jsonscan.WholeText(choice.Value); err != nil {
				return "", err
			}
		case text == "null":
			text = "None" // as Python writes it
		}
		pairs = append(pairs, choice.Name+"."+text)
	}
	return strings.Join(pairs, " "), nil
}

// beforeOptions is a question without its choices.
func beforeOptions(value []byte) (string, error) {
	text, err := jsonscan.WholeText(value)
	question, _, _ := strings.Cut(text, "Options:")
	return strings.TrimSpace(question), err
}

// editableRegion is the answer from the first marker on. Without a marker vLLM takes the last character.
func editableRegion(value []byte) (string, error) {
	answer, err := jsonscan.WholeText(value)
	at := strings.Index(answer, "<|editable_region_start|>")
	if at < 0 {
		_, size := utf8.DecodeLastRuneInString(answer)
		at = len(answer) - size
	}
	return answer[at:], err
}

// twoTurns leaves out conversations without an answer.
func twoTurns(row hfValues, _ *hfFlags) (bool, error) {
	turns, err := row.value("conversations")
	if err == nil && turns[0] != '[' {
		err = fmt.Errorf(`expected "conversations" to be an array: got %s`, jsonscan.Kind(turns))
	}
	n := 0
	for range jsonscan.Elements(turns) {
		n++
	}
	return n >= 2, err
}

// distanceWithin takes rows whose edit is of a size between the flags' bounds.
func distanceWithin(row hfValues, o *hfFlags) (bool, error) {
	raw, err := row.value("norm_distance")
	if err != nil {
		return false, err
	}
	distance, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsNaN(distance) {
		return false, fmt.Errorf(`expected "norm_distance" to be a number: got %s`, textfile.Value(raw))
	}
	return distance >= o.minDistance && distance <= o.maxDistance, nil
}
