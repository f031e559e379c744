package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"benchtop/internal/hf/hub"
	"benchtop/internal/usage"
)

// hf is the data sets of the Hugging Face hub, and copies of them.
type hf struct {
	Common
	bfcl  bfcl // the default one
	flags hfFlags
}

// hfFlags are those of the data sets of the hub.
type hfFlags struct {
	name, subset, split      string // of the data set on the hub, where the path is a copy
	column                   string // that holds the prompts; "" for the known one
	version                  string // of the datasets library, whose order of streamed rows is taken
	noStream                 bool
	outputLen                int     // tokens; 0 for the data set's own
	minDistance, maxDistance float64 // of Blazedit
	minSeconds, maxSeconds   float64 // of recordings; 0 for no bound
	categories               string  // of BFCL
}

func (k *hf) Define(group func(string) Flags) {
	f, o := group(filesHeading), &k.flags
	f.StringVar(&o.name, "hf-name", "", "hf: the data set's name on the hub, if --dataset-path is a local copy")
	f.StringVar(&o.subset, "hf-subset", "", "hf: subset (default: the data set's)")
	f.StringVar(&o.split, "hf-split", "", "hf: split, such as train (default: the data set's)")
	f.StringVar(&o.column, "hf-text-column", "",
		"hf: column of the prompts, such as question or messages[0].content (default: the known one)")
	f.CountVar(&o.outputLen, "hf-output-len", "hf: output length in tokens (default: the data set's)")
	f.BoolVar(&o.noStream, "no-stream", false, "hf: shuffle the whole data set, not a buffer of rows as it is streamed")
	f.StringVar(&o.version, "hf-datasets-version", o.version,
		"hf: version of Python's datasets whose order of streamed rows to follow")
	f.Float64Var(&o.minDistance, "blazedit-min-distance", 0, "hf, Blazedit: smallest edit, as a share of the code")
	f.Float64Var(&o.maxDistance, "blazedit-max-distance", o.maxDistance,
		"hf, Blazedit: largest edit, as a share of the code")
	f.Float64Var(&o.minSeconds, "asr-min-audio-len-sec", 0, "hf, speech: shortest recording in seconds")
	f.Float64Var(&o.maxSeconds, "asr-max-audio-len-sec", o.maxSeconds, "hf, speech: longest recording in seconds")
	f.StringVar(&o.categories, "bfcl-categories", "",
		"hf, BFCL: categories, separated by commas (default: simple,live_simple,multiple)")
}

// class is the layout of the data set that the flags name; nil where it has to be detected.
func (k *hf) class() *hfClass {
	if k.flags.column != "" {
		return nil
	}
	return hfClassOf(k.flags.name, k.Path)
}

// length is the output length that a flag gives; 0 for none.
func (k *hf) length() int {
	if class := k.class(); class != nil && class.own {
		return 0
	}
	return max(0, k.outputLen(k.flags.outputLen))
}

func (k *hf) needs() Needs {
	n := Needs{File: HubName, Forms: AsText, Ends: true, Counts: true, OutputLen: k.length()}
	class := k.class()
	if class == nil {
		return n
	}
	n.OwnOutputLens = class.own
	n.Template = class.template == alwaysRendered || class.template == rendered && !k.SkipChatTemplate
	if n.OutputLen == 0 && class.answer == "" {
		n.OutputLen = class.output
	}
	switch {
	case class.calls:
		n.Forms, n.Why, n.Template, n.OutputLen = AsMessages, "function calls travel in chat requests", true,
			k.calls().OutputLen
	case class.medium == withPicture:
		n.Forms, n.Why = k.mediaForm(), imagesInMessages
	case class.medium == withVideo:
		n.Forms |= k.mediaForm() // vLLM sends the text alone where it has to
	case class.medium == withRecording:
		n.Forms, n.Why = AsAudio|AsMessages, recordingsInFiles
	}
	return n
}

// calls are the questions of BFCL.
func (k *hf) calls() bfcl {
	o := k.bfcl
	o.Common = k.Common
	o.OutputLen = cmp.Or(max(0, k.outputLen(k.flags.outputLen)), o.OutputLen)
	if k.flags.categories != "" {
		o.Categories = nil
		for category := range strings.SplitSeq(k.flags.categories, ",") {
			o.Categories = append(o.Categories, strings.TrimSpace(category))
		}
	}
	return o
}

func (k *hf) check() error {
	o := &k.flags
	if k.Path == "" {
		return errors.New(
			"--dataset-name hf: needs the data set's name or a copy of it; give --dataset-path, such as openai/gsm8k")
	}
	if class := k.class(); class != nil && class.calls {
		return k.calls().check()
	}
	p := &problems{}
	p.positive("number of prompts", k.Prompts)
	p.seed(k.Seed, math.MaxInt64)
	if _, known := hfStreamOf(o.version); !known {
		p.add("--hf-datasets-version %s: expected a version such as 5.0.1", usage.Quote(o.version))
	}
	if o.column != "" && !hfPathForm.MatchString(o.column) && strings.ContainsAny(o.column, "[]") {
		p.add("--hf-text-column %s: expected a column or a path such as messages[0].content", usage.Quote(o.column))
	}
	p.span("--blazedit-min-distance", o.minDistance, "--blazedit-max-distance", o.maxDistance)
	if o.maxSeconds != 0 { // which stands for no bound
		p.span("--asr-min-audio-len-sec", o.minSeconds, "--asr-max-audio-len-sec", o.maxSeconds)
	}
	return p.of("hf")
}

// span checks two bounds that are not negative.
func (p *problems) span(least string, lo float64, most string, hi float64) {
	switch {
	case !(lo >= 0):
		p.add("%s %g must not be negative", least, lo)
	case !(hi >= lo):
		p.add("%s %g must be at least %s %g", most, hi, least, lo)
	}
}

// open finds the files, puts the rows in order and makes prompts of the first ones, as vLLM's client does for the same
// seed, tokenizer and files. The legacy generator stays as it is, and Python's unless prompts have to be repeated.
func (k *hf) open(ctx context.Context, t Tools) (Flow, error) {
	class := k.class()
	if class != nil && class.calls {
		return k.calls().open(ctx, t)
	}
	text := t.Text()
	if text.Counter == nil {
		return Flow{}, noCounter("hf")
	}
	d := k.drawing(text, t.Hub(), t.Note)
	list, err := d.draw(ctx, t.Streams().Python, t.Note)
	if class == nil && hub.Unknown(err) {
		err = fmt.Errorf("%w. %s; the prompts of others are in a column that --hf-text-column names", err, hfKnown())
	}
	if errors.Is(err, ErrNoTemplate) {
		return Flow{}, err
	}
	return list, inDataset("hf", err)
}

// drawing draws from the data set.
func (k *hf) drawing(text Text, h hfHub, note func(string)) *hfSampler {
	o := &k.flags
	d := &hfSampler{Common: k.Common, class: k.class(), flags: o, length: k.length(), id: k.Path, hub: h, text: text,
		tables: hfTables{root: k.Path},
		from:   hub.Selection{Path: k.Path, Name: o.name, Subset: o.subset, Split: o.split}}
	if d.class != nil {
		d.choose(note)
	}
	return d
}

// choose sets what the layout of the data set decides.
func (d *hfSampler) choose(note func(string)) {
	if d.flags.name != "" && hfClassOf(d.flags.name) == d.class {
		d.id = d.flags.name
	}
	d.from.Split = cmp.Or(d.from.Split, d.class.split)
	if d.class.noSubset && d.from.Subset != "" {
		note(fmt.Sprintf("--hf-subset has no effect with %s, as with vLLM", d.id))
		d.from.Subset = ""
	}
	d.from.Subset = cmp.Or(d.from.Subset, d.class.subset)
	if d.class.medium == withVideo && !d.Forms.Overlap(AsMedia|AsMessages) {
		note("the backend sends texts alone, so the videos of " + d.id + " are left out")
	}
	d.pieces = hfPieces(d.class.prompt)
	if d.class.medium == withRecording {
		d.pieces = []hfPiece{{text: d.text.transcription()}}
	}
}

// Prompts of speech recognition, in the special tokens of the models that have any.
const (
	whisperPrompt = "<|startoftranscript|><|en|><|transcribe|><|notimestamps|>"
	coherePrompt  = "<|startofcontext|><|startoftranscript|><|emo:undefined|><|en|><|en|><|pnc|><|noitn|>" +
		"<|notimestamp|><|nodiarize|>"
)

// transcription is the prompt that goes with a recording, by the tokenizer's name and class; "" for most.
func (t Text) transcription() string {
	switch {
	case strings.Contains(t.TokenizerName, "openai"):
		return whisperPrompt
	case t.TokenizerClass == "CohereAsrTokenizer", strings.Contains(strings.ToLower(t.TokenizerName), "cohere"):
		return coherePrompt
	}
	return ""
}
