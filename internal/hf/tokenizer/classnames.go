package tokenizer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"benchtop/internal/jsonscan"
)

// naming is the part of the files that leads transformers to a tokenizer's class.
type naming struct {
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

// readModelConfig reads the names in config.json that lead to the class. The file may hold Infinity and NaN, as Python writes them, so it is not
// checked to be JSON.
func (n *naming) readModelConfig(file []byte) {
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
func (n *naming) resolve() string {
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
	case "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer", "LxmertTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer":
		return "BertTokenizer"
	case "Phi3Tokenizer":
		return "LlamaTokenizer"
	}
	for class := range eachClass() {
		if class == name {
			return class
		}
	}
	return genericClass
}

// classOfModel is the class for models of a type, "" for none.
func classOfModel(modelType string) string {
	for class, types := range eachClass() {
		if slices.Contains(types, modelType) {
			return class
		}
	}
	return ""
}

// eachClass goes through modelTypes.
func eachClass() func(yield func(class string, types []string) bool) {
	return func(yield func(class string, types []string) bool) {
		for line := range strings.SplitSeq(modelTypes, "\n") {
			if words := strings.Fields(line); len(words) > 0 && !yield(words[0], words[1:]) {
				return
			}
		}
	}
}

// followedModels are models on the hub whose tokenizer.json is followed whatever their files say of a class.
var followedModels = []string{
	"deepseek-ai/deepseek-r1-distill-llama-*", "deepseek-ai/deepseek-coder-*", "allenai/dolma2-tokenizer", "google/umt5-small",
	"naver-clova-ix/donut-*", "salesforce/blip2-opt-*", "salesforce/blip2-flan-t5-*", "salesforce/instructblip-flan-t5-*", "stepfun-ai/step-3.7-*",
}

// wronglyNamed are types of models whose files name a class that is not theirs.
var wronglyNamed = strings.Fields(`
	arctic camembertv2-base chatlm cohere_asr ernie4_5 ernie4_5_moe fuyu h2ovl_chat hyperclovax hyperclovax_vision_v2
	hyperclovax_vlm internlm2 internlm3 iquestcoder jamba llava llava_next minicpm3 minicpmv minimax_m2 modernbert
	modernbert-decoder molmo molmo2 nemotron nvfp4 opencua openvla paddleocr_vl phi3 phi3_v phimoe qwen2 qwen3_5
	qwen3_5_moe qwen3_5_moe_text qwen4_exp siglip2 smolvlm step3_vl vipllava
`)

// modelTypes are the classes of transformers 5.23 that do not follow a tokenizer.json, and the generic one, in lines of a class and
// types of models that have it.
const modelTypes = `
AlbertTokenizer albert yoso
BartTokenizer florence2
BarthezTokenizer barthez
BartphoTokenizer bartpho
BertGenerationTokenizer bert-generation
BertJapaneseTokenizer bert-japanese
BertTokenizer align bark bert blip bros chinese_clip convbert distilbert electra ernie flava git grounding-dino layoutlm megatron-bert
BertTokenizer mm-grounding-dino nezha nomic_bert qdqbert realm retribert squeezebert tvp vilt visual_bert
BertweetTokenizer bertweet
BigBirdTokenizer big_bird
BioGptTokenizer biogpt
BlenderbotSmallTokenizer blenderbot-small
BlenderbotTokenizer blenderbot
ByT5Tokenizer byt5
CLIPTokenizer aimv2 clip clipseg groupvit omdet-turbo oneformer owlv2 owlvit sam3 sam3_video xclip
CTRLTokenizer ctrl
CamembertTokenizer camembert
CanineTokenizer canine
ClvpTokenizer clvp
CodeGenTokenizer
CodeLlamaTokenizer code_llama
CohereTokenizer aya_vision cohere cohere2
ConvBertTokenizer
CpmAntTokenizer cpmant
CpmTokenizer cpm
DPRContextEncoderTokenizer
DPRQuestionEncoderTokenizer dpr
DPRReaderTokenizer
DebertaTokenizer deberta
DebertaV2Tokenizer deberta-v2
DiaTokenizer dia
DistilBertTokenizer
ElectraTokenizer
EsmTokenizer esm
EsmcTokenizer esmc esmfold2
FNetTokenizer fnet
FSMTTokenizer fsmt
FastSpeech2ConformerTokenizer
FlaubertTokenizer flaubert
FunnelTokenizer funnel
GPT2Tokenizer blip-2 codegen dbrx emu3 gpt2 gpt_neo gptj hyperclovax_vision_v2 instructblip instructblipvideo jais2 opt phi starcoder2
GPTNeoXJapaneseTokenizer gpt_neox_japanese
GPTNeoXTokenizer falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv xlstm
GPTSw3Tokenizer gpt-sw3
GemmaTokenizer diffusion_gemma gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 t5gemma zaya
HerbertTokenizer herbert
LEDTokenizer led
LasrTokenizer lasr_ctc lasr_encoder
LayoutLMTokenizer
LayoutLMv2Tokenizer layoutlmv2
LayoutLMv3Tokenizer layoutlmv3
LayoutXLMTokenizer layoutxlm
LlamaTokenizer idefics idefics2
LongformerTokenizer
LukeTokenizer luke
LxmertTokenizer lxmert
M2M100Tokenizer m2m_100
MBart50Tokenizer mbart50
MBartTokenizer mbart
MLukeTokenizer mluke
MPNetTokenizer mpnet
MarianTokenizer marian
MarkupLMTokenizer markuplm
MgpstrTokenizer mgp-str
MistralCommonBackend ministral ministral3 mistral mistral3 mistral_large4 mixtral pixtral voxtral voxtral_realtime
MobileBertTokenizer mobilebert
MvpTokenizer mvp
MyT5Tokenizer myt5
NllbTokenizer nllb nllb-moe
NougatTokenizer nougat pp_formulanet
OpenAIGPTTokenizer openai-gpt
PLBartTokenizer plbart
PegasusTokenizer pegasus
PerceiverTokenizer perceiver
Phi3Tokenizer
PhobertTokenizer phobert
ProphetNetTokenizer prophetnet
Qwen2Tokenizer audioflamingo3 colqwen2 cosmos3_omni dots3_note fun_asr_nano hunyuan_vl internvl lighton_ocr moss_transcribe_diarize ovis2
Qwen2Tokenizer qianfan_ocr qwen2 qwen2_5_omni qwen2_5_vl qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_asr qwen3_moe qwen3_next qwen3_omni_moe
Qwen2Tokenizer qwen3_vl qwen3_vl_moe vibevoice
Qwen3_5Tokenizer qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen4_exp
RagTokenizer rag
ReformerTokenizer reformer
RemBertTokenizer rembert
RoCBertTokenizer roc_bert
RoFormerTokenizer roformer
RobertaTokenizer bart bridgetower clap data2vec-text ibert lilt longformer mega mra roberta roberta-prelayernorm
SeamlessM4TTokenizer seamless_m4t seamless_m4t_v2
Siglip2Tokenizer siglip2
SiglipTokenizer siglip
Speech2TextTokenizer speech_to_text
SpeechT5Tokenizer speecht5
SplinterTokenizer splinter
SqueezeBertTokenizer
T5Tokenizer mt5 musicgen musicgen_melody switch_transformers t5
TapasTokenizer tapas
Tipsv2Tokenizer tipsv2
TokenizersBackend EvollaModel arctic aria beam bigbird_pegasus camembertv2-base canary chatlm cohere_asr ernie4_5 ernie4_5_moe flex_olmo fuyu
TokenizersBackend glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm_image glmasr got_ocr2 gpt_bigcode gradium_phonon_tts granite
TokenizersBackend granite_speech5_ctc granitemoe granitemoehybrid granitemoeshared h2ovl_chat hyperclovax hyperclovax_vlm internlm2 internlm3
TokenizersBackend iquestcoder jamba kimi_k25 kimi_linear kosmos-2 llava llava_next mimo_v2_flash minicpm3 minicpm_ocr minicpmv minicpmv4_6
TokenizersBackend minicpmv4_7 minimax_m2 modernbert modernbert-decoder molmo molmo2 nemo_speechlm nemotron nemotron3_5_asr
TokenizersBackend nemotron_asr_streaming nvfp4 nystromformer olmo2 olmo3 olmo_hybrid opencua openvla paddleocr_vl parakeet_ctc parakeet_rnnt
TokenizersBackend parakeet_tdt pegasus_x persimmon phi3 phi3_v phimoe pix2struct pocket_tts smolvlm stablelm step3_vl umt5 vipllava
TokenizersBackend xlm-roberta-xl
UdopTokenizer udop
VideoPrismTokenizer videoprism
VitsTokenizer vits
Wav2Vec2CTCTokenizer data2vec-audio hubert unispeech unispeech-sat wav2vec2 wav2vec2-bert wav2vec2-conformer
Wav2Vec2PhonemeCTCTokenizer wav2vec2_phoneme
WhisperTokenizer whisper
XGLMTokenizer xglm
XLMRobertaTokenizer gte jina_embeddings_v3 metaclip_2 trocr xlm-roberta xmod
XLMTokenizer xlm
XLNetTokenizer xlnet
`
