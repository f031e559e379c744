package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

// inertFlags are flags of vLLM's client that its users' scripts carry and that change nothing here, with the reason.
var inertFlags = []struct{ name, kind, why string }{
	{"tokenizer", "string", "the server counts tokens, or token ids are sent"},
	{"tokenizer-mode", "string", "the server counts tokens, or token ids are sent"},
	{"trust-remote-code", "bool", "no code from elsewhere is ever run"},
	{"use-beam-search", "bool", "it has no effect in vLLM's client either"},
	{"disable-tqdm", "bool", "there is no such progress bar; --progress sets the time between progress lines"},
	{"no-stream", "bool", "it is about data sets from a hub"},
	{"skip-chat-template", "bool", "no chat template is rendered here, the server does that"},
	{"chat-template-kwargs", "json", "no chat template is rendered here; for the server use --extra-body.chat_template_kwargs"},
}

func defineInert(f *pflag.FlagSet) {
	for _, x := range inertFlags {
		switch x.kind {
		case "bool":
			f.Bool(x.name, false, x.why)
		case "json":
			f.Var(new(jsonValue), x.name, x.why)
		default:
			f.String(x.name, "", x.why)
		}
	}
}

// inertNotes say which of them were given.
func inertNotes(given *pflag.FlagSet) (notes []string) {
	for _, x := range inertFlags {
		if given.Changed(x.name) {
			notes = append(notes, fmt.Sprintf("--%s has no effect: %s", x.name, x.why))
		}
	}
	return notes
}
