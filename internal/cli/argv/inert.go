package argv

import (
	"fmt"

	"github.com/spf13/pflag"
)

// inertFlags are flags of vLLM's client that are accepted without effect, with the reason.
var inertFlags = []struct{ name, kind, why string }{
	{"tokenizer-mode", "string", "a tokenizer is read from its tokenizer.json, whatever library made it"},
	{"trust-remote-code", "bool", "no code from elsewhere is ever run"},
	{"use-beam-search", "bool", "it has no effect in vLLM's client either"},
	{"disable-tqdm", "bool", "there is no such progress bar; --progress sets the time between progress lines"},
	{"no-stream", "bool", "it is about data sets of a hub that come in tables"},
	{"hf-split", "string", "it is about data sets of a hub that come in tables"},
	{"hf-subset", "string", "it is about data sets of a hub that come in tables"},
	{"blazedit-min-distance", "string", "it is about data sets of a hub that come in tables"},
	{"blazedit-max-distance", "string", "it is about data sets of a hub that come in tables"},
	{"asr-min-audio-len-sec", "string", "there are no data sets of speech"},
	{"asr-max-audio-len-sec", "string", "there are no data sets of speech"},
}

// DefineInert adds the flags without effect.
func DefineInert(f *pflag.FlagSet) {
	for _, x := range inertFlags {
		switch x.kind {
		case "bool":
			f.Bool(x.name, false, x.why)
		default:
			f.String(x.name, "", x.why)
		}
	}
}

// InertNotes name the flags without effect that were given.
func InertNotes(given *pflag.FlagSet) (notes []string) {
	for _, x := range inertFlags {
		if given.Changed(x.name) {
			notes = append(notes, fmt.Sprintf("--%s has no effect: %s", x.name, x.why))
		}
	}
	return notes
}
