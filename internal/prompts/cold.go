package prompts

import (
	"fmt"

	"benchtop/datasets"
	"benchtop/internal/server"
	"benchtop/loadgen"
)

// The values of --cache.
const (
	cacheAsIs = "as-is"
	cacheCold = "cold"
	cacheNone = "none"
)

// Salt keeps the server from recognizing the prompts of earlier runs, and describes itself; with --cache as-is there is
// none. vLLM takes a salt in the body, which costs no tokens; other servers get a few tokens before each prompt.
func (o *RequestOptions) Salt(m server.Model, prompts *Supply) (loadgen.Salt, string, error) {
	if !o.Cold() {
		return loadgen.Salt{}, "", nil
	}
	mode := loadgen.SaltPrefix
	if m.Owner == "vllm" {
		mode = loadgen.SaltField
	}
	salt, err := loadgen.NewSalt(mode, prompts.Tokenizing.ordinaryIDs())
	salt.PerRequest = o.cache == cacheNone
	if err == nil {
		err = prompts.take(salt)
	}
	name := "cold cache"
	if salt.PerRequest {
		name = "no shared cache"
	}
	switch {
	case err != nil:
		return salt, "", err
	case mode == loadgen.SaltField:
		return salt, name + " (cache_salt)", nil
	}
	return salt, fmt.Sprintf("%s (%s before each prompt)", name, saltCost(salt, prompts)), nil
}

// take checks before the run that every prompt drawn so far has a place for the salt. A prompt of pictures alone has
// none, and its request would fail for a reason that is not the server's.
func (x *Supply) take(salt loadgen.Salt) error {
	if salt.Mode != loadgen.SaltPrefix {
		return nil
	}
	return x.check("--cache cold", func(turn *datasets.Turn) error { return salt.Takes(*turn) })
}

// saltCost describes the salt before each prompt.
func saltCost(salt loadgen.Salt, prompts *Supply) string {
	if prompts.First.Turns[0].TokenIDs != nil {
		return fmt.Sprintf("%d token ids", len(salt.IDs))
	}
	if prompts.Tokenizing.Counter != nil {
		if n, err := prompts.Tokenizing.Counter.Count(salt.Line()); err == nil {
			return fmt.Sprintf("about %d tokens", n)
		}
	}
	return "a short line"
}

// ordinaryIDs are token ids that a prompt may hold. The vocabulary of the prompts comes first: a server refuses ids
// beyond its own, whose size --vocab-size gives.
func (m *Tokenizing) ordinaryIDs() []int {
	switch {
	case m.vocabulary.Known():
		return m.vocabulary.IDs()
	case m.Local != nil:
		return datasets.Vocabulary{Size: m.Local.VocabSize(), Special: m.Local.SpecialIDs()}.IDs()
	}
	return datasets.AssumedVocabulary().IDs()
}
