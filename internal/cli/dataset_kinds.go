package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"benchtop/datasets"
)

// fileUse says what a data set does with --dataset-path.
type fileUse int

const (
	noFile fileUse = iota
	mayHaveFile
	needsFile
	onHub // a name on the hub, or a copy of what is there
)

// datasetKind is one of the choices of --dataset-name.
type datasetKind struct {
	name string
	file fileUse
	// list: the prompts come to an end.
	list bool
	// backends that can send the prompts; empty for all.
	backends []string
	// why names the reason for that.
	why string
	// fullLength: answers are to go on to the length asked for.
	fullLength bool
	// allRows: with --num-prompts 0 each row of the file is taken once.
	allRows bool
	// counts: the data set goes by token counts. renders says whether prompts go through the chat template, nil for never.
	counts  bool
	renders func(o *promptOptions) bool
	// check looks at the data set's own flags, nil for none.
	check func(o *promptOptions) problemList
	// draw makes the source.
	draw func(ctx context.Context, d *drawing) (datasets.Source, error)
}

// completionsBackends and chatBackends are those of the two protocols.
var (
	completionsBackends = []string{"vllm", "openai"}
	chatBackends        = []string{"openai-chat"}
)

// poolingBackends are those of vLLM whose endpoints give no text.
func poolingBackends() []string {
	return []string{"openai-embeddings", "openai-embeddings-chat", "openai-embeddings-clip", "openai-embeddings-vlm2vec",
		"infinity-embeddings", "infinity-embeddings-clip", "vllm-pooling", "vllm-rerank"}
}

func always(*promptOptions) bool          { return true }
func unlessSkipped(o *promptOptions) bool { return !o.skipTemplate }

// templateWay is what to try where the model's chat template is missing or cannot be rendered. The server's own rendering has
// been tried by then, if a server was named.
func (k *datasetKind) templateWay() string {
	way := "name a tokenizer with a chat template that works with --tokenizer DIRECTORY, or a server that renders chats with --base-url"
	if !k.renders(&promptOptions{skipTemplate: true}) {
		way += ", or send the prompts as they are with --skip-chat-template (with --backend openai-chat the server then renders them)"
	}
	return way
}

// datasetKinds are the choices of --dataset-name in the order of the help.
func datasetKinds() []datasetKind {
	return []datasetKind{
		{name: "random", fullLength: true, check: (*promptOptions).checkRandom, draw: drawRandom},
		{name: "random-mm", fullLength: true, list: true, backends: chatBackends, why: "images travel in chat messages",
			check: (*promptOptions).checkRandomMM, draw: drawRandomMM},
		{name: "random-rerank", list: true, backends: []string{"none"}, why: "its requests are for rerank endpoints, which cannot be loaded; 'benchtop dataset' shows them",
			check: (*promptOptions).checkRerank, draw: drawRerank},
		{name: "prefix_repetition", list: true, check: (*promptOptions).checkRepetition, draw: drawRepetition},
		{name: "sharegpt", list: true, counts: true, file: needsFile, check: (*promptOptions).checkShareGPT, draw: drawShareGPT},
		{name: "sonnet", list: true, counts: true, renders: always, file: mayHaveFile, check: (*promptOptions).checkSonnet, draw: drawSonnet},
		{name: "burstgpt", list: true, file: needsFile, check: (*promptOptions).checkBurstGPT, draw: drawBurstGPT},
		{name: "custom", list: true, counts: true, allRows: true, renders: unlessSkipped, file: needsFile, check: (*promptOptions).checkCustom, draw: drawCustom},
		{name: "custom_image", list: true, counts: true, allRows: true, file: needsFile, backends: chatBackends, why: "images travel in chat messages",
			check: (*promptOptions).checkCustomImage, draw: drawCustomImage},
		{name: "custom_audio", list: true, file: needsFile, backends: []string{"none"}, why: "recorded speech cannot be sent; there are no audio endpoints here"},
		{name: "spec_bench", list: true, counts: true, allRows: true, renders: always, file: needsFile, check: (*promptOptions).checkSpecBench, draw: drawSpecBench},
		{name: "speed_bench", list: true, counts: true, allRows: true, renders: unlessSkipped, file: needsFile, check: (*promptOptions).checkSpeedBench, draw: drawSpeedBench},
		{name: "timed_trace", list: true, file: needsFile, fullLength: true, backends: completionsBackends, why: "its prompts are token ids, which chat cannot send",
			check: (*promptOptions).checkTrace, draw: drawTrace},
		{name: "hf", list: true, counts: true, renders: always, backends: chatBackends, why: "function calls travel in chat requests", file: onHub, check: (*promptOptions).checkHub, draw: drawHub},
	}
}

// datasetNames are the choices of --dataset-name.
func datasetNames() (names []string) {
	for _, k := range datasetKinds() {
		names = append(names, k.name)
	}
	return names
}

// datasetNamed is the choice of that name, nil for none.
func datasetNamed(name string) *datasetKind {
	all := datasetKinds()
	if i := slices.IndexFunc(all, func(k datasetKind) bool { return k.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// backendWords say why a backend cannot send the prompts, and which can.
func (k *datasetKind) backendWords(backend string) string {
	if k.backends[0] == "none" {
		return k.why
	}
	return fmt.Sprintf("%s; backend %s cannot send them, use --backend %s", k.why, backend, strings.Join(k.backends, " or "))
}
