package datasets

import (
	"context"
	"errors"
	"slices"
)

const imagesInMessages = "images travel in chat messages"

// filesHeading is that of the flags of data sets that are files without times.
const filesHeading = "Data sets of files"

// Kinds are the data sets, in the order in which the help names them, with flags of their own. What the flags that they share
// say is written to c.
func Kinds(c *Common) []Kind {
	random, custom := &randomFlags{RandomOptions: RandomDefaults(), vocabSize: &c.VocabSize}, &customFlags{}
	return []Kind{
		&randomKind{random},
		&randomMMKind{randomFlags: random, RandomMMOptions: RandomMMDefaults()},
		&rerankKind{random},
		&prefixRepetitionKind{PrefixRepetitionDefaults()},
		&shareGPTKind{ShareGPTDefaults()},
		&sonnetKind{SonnetDefaults()},
		&burstGPTKind{},
		&customKind{custom},
		&customImageKind{customFlags: custom},
		&refusedKind{"custom_audio", "recorded speech cannot be sent; there are no audio endpoints here"},
		&specBenchKind{SpecBenchDefaults()},
		&speedBenchKind{SpeedBenchDefaults()},
		&timedTraceKind{TimedTraceDefaults()},
		&hubKind{BFCLOptions: BFCLDefaults()},
	}
}

// Define adds the flags of all kinds, in their order. Only sonnet's have their place behind those of the custom family.
func Define(kinds []Kind, group func(heading string) Flags) {
	for _, k := range kinds {
		if k.Name() != "sonnet" {
			k.Define(group)
		}
		if k.Name() == "custom_image" {
			Named(kinds, "sonnet").Define(group)
		}
	}
}

// Named is the kind of that name, nil for none.
func Named(kinds []Kind, name string) Kind {
	if i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name() == name }); i >= 0 {
		return kinds[i]
	}
	return nil
}

// Names are those of the kinds.
func Names(kinds []Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, k.Name())
	}
	return names
}

// refusedKind is a data set of files that no request here can hold.
type refusedKind struct{ name, why string }

func (k *refusedKind) Name() string              { return k.name }
func (k *refusedKind) Define(func(string) Flags) {}
func (k *refusedKind) Needs(Common) Needs        { return Needs{File: RequiredFile, Ends: true, Why: k.why} }
func (k *refusedKind) Validate(Common) error     { return nil }
func (k *refusedKind) Open(context.Context, Common, Tools) (Source, error) {
	return nil, errors.New(k.why)
}
