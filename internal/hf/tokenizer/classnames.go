package tokenizer

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"benchtop/internal/jsonscan"
)

// classHints is the part of the files that leads transformers to a tokenizer's class.
type classHints struct {
	class       string // tokenizer_class of tokenizer_config.json
	remote      bool   // the model comes with a class of its own
	modelClass  string // tokenizer_class of config.json
	modelType   string // model_type of it
	modelName   string // model_name of it
	repository  string // the model's name on the hub
	hasModel    bool   // there is a config.json
	isByteLevel bool   // tokenizer.json has a stage ByteLevel
	hasTekken   bool   // there is a tekken.json
}

// genericClass follows a tokenizer.json to the letter, and has no special tokens of its own.
const genericClass = "TokenizersBackend"

// mistralClass reads a tekken.json, where there is one, instead of a tokenizer.json.
const mistralClass = "MistralCommonBackend"

// readModelConfig reads the names in config.json that lead to the class. The file may hold Infinity and NaN, as Python
// writes them, so it is not checked to be JSON.
func (n *classHints) readModelConfig(file []byte) {
	file = bytes.TrimSpace(file)
	n.hasModel = bytes.HasPrefix(file, []byte("{"))
	if !n.hasModel {
		return
	}
	for i, value := range jsonscan.Fields(file, "model_type", "model_name", "tokenizer_class") {
		if jsonscan.IsString(value) {
			*[...]*string{&n.modelType, &n.modelName, &n.modelClass}[i] = jsonscan.Text(value)
		}
	}
}

// hasTokenizer reports whether an auto_map names a class of the model's own for the tokenizer.
func hasTokenizer(autoMap []byte) bool {
	if autoMap[0] == '[' {
		return true
	}
	var named struct{ AutoTokenizer json.RawMessage }
	return json.Unmarshal(autoMap, &named) == nil && !isNull(named.AutoTokenizer)
}

// resolve returns the class by the rules of transformers 5.23; "" where no file says anything of it.
func (n *classHints) resolve() string {
	declared := cmp.Or(n.class, n.modelClass)
	registered := classOfModel(n.modelType)
	if registered == mistralClass && !n.hasTekken {
		registered = genericClass
	}
	isWrong := slices.Contains(wronglyNamed, n.modelType) || slices.Contains(wronglyNamed, n.modelName)
	if !n.remote {
		switch {
		case n.hasModel && slices.ContainsFunc(followedModels, func(pattern string) bool {
			matches, _ := path.Match(pattern, strings.ToLower(n.repository))
			return matches
		}):
			return genericClass
		case plainClass(declared) == "LlamaTokenizer" && !isWrong && n.isByteLevel && registered != mistralClass:
			return genericClass
		case declared != "" && registered != "" && registered != plainClass(declared):
			if isWrong || registered == genericClass || registered == mistralClass {
				declared = registered
			}
			return knownClass(declared)
		}
	}
	switch {
	case declared != "":
		return knownClass(declared)
	case registered != "":
		return knownClass(registered)
	case n.hasModel:
		return genericClass
	}
	return ""
}

func plainClass(name string) string { return strings.TrimSuffix(name, "Fast") }

// knownClass is the class of a name: one that transformers does not have counts as the generic one, and some are other
// names for a class.
func knownClass(name string) string {
	name = plainClass(name)
	switch name {
	case "BartTokenizer", "LEDTokenizer", "LongformerTokenizer", "MvpTokenizer":
		return "RobertaTokenizer"
	case "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer", "LxmertTokenizer", "MobileBertTokenizer",
		"SqueezeBertTokenizer":
		return "BertTokenizer"
	case "Phi3Tokenizer":
		return "LlamaTokenizer"
	}
	for line := range strings.Lines(classModels) {
		if strings.Fields(line)[0] == name {
			return name
		}
	}
	return genericClass
}

// classOfModel is the class for models of a type, "" for none.
func classOfModel(modelType string) string {
	for line := range strings.Lines(classModels) {
		if words := strings.Fields(line); slices.Contains(words[1:], modelType) {
			return words[0]
		}
	}
	return ""
}

// followedModels are models on the hub whose tokenizer.json is followed whatever their files say of a class.
var followedModels = []string{
	"deepseek-ai/deepseek-r1-distill-llama-*", "deepseek-ai/deepseek-coder-*", "allenai/dolma2-tokenizer",
	"google/umt5-small",
	"naver-clova-ix/donut-*", "salesforce/blip2-opt-*", "salesforce/blip2-flan-t5-*",
	"salesforce/instructblip-flan-t5-*", "stepfun-ai/step-3.7-*",
}

// wronglyNamed are types of models whose files name a class that is not theirs.
var wronglyNamed = strings.Fields(`
	arctic camembertv2-base chatlm cohere_asr ernie4_5 ernie4_5_moe fuyu h2ovl_chat hyperclovax hyperclovax_vision_v2
	hyperclovax_vlm internlm2 internlm3 iquestcoder jamba llava llava_next minicpm3 minicpmv minimax_m2 modernbert
	modernbert-decoder molmo molmo2 nemotron nvfp4 opencua openvla paddleocr_vl phi3 phi3_v phimoe qwen2 qwen3_5
	qwen3_5_moe qwen3_5_moe_text qwen4_exp siglip2 smolvlm step3_vl vipllava
`)

// classModels are the classes of transformers 5.23 that do not follow a tokenizer.json, and the generic one: in each
// line a class and the types of models that have it.
//
//go:embed class_models.txt
var classModels string
