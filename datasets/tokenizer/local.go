package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Files are the contents of the files that describe a tokenizer; all but the first may be nil.
type Files struct {
	Tokenizer     []byte // tokenizer.json
	Config        []byte // tokenizer_config.json
	SpecialTokens []byte // special_tokens_map.json
}

// Local is a tokenizer read from its files. It gives the ids and texts that the Hugging Face library gives, id for id,
// and is safe for concurrent use.
type Local struct {
	vocab     *vocabulary
	model     model
	bpe       *bpe       // the model, if it is one; else nil
	normalize normalizer // nil for none
	splitter  splitter   // nil for none
	firstAsks bool       // the splitter treats what begins where the text does in its own way
	frame     frame
	added     *addedTokens
	raw       *matcher // of added tokens in text as it comes
	cooked    *matcher // of added tokens in normalized text
	tokens    tokenTexts
	settings  *settings
	ids       []int
	special   []int
	cleanUp   bool
	scratches sync.Pool // of *scratch
}

// Read reads a tokenizer. What it does not know, and what would make a text come out otherwise than the library has it,
// is an error that names it: the caller then counts in another way, such as by asking the server.
func Read(f Files) (*Local, error) {
	l := &Local{}
	var err error
	if l.settings, err = readSettings(f.Config, f.SpecialTokens); err != nil {
		return nil, err
	}
	if err := l.read(f.Tokenizer); err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	l.scratches.New = func() any { return new(scratch) }
	return l, nil
}

// sections are the fields of a tokenizer.json.
type sections map[string]json.RawMessage

func readSections(file []byte) (sections, error) {
	if err := checkJSON(file); err != nil {
		return nil, err
	}
	all := sections{}
	w := walker{data: file}
	err := w.object(func(key []byte) error {
		switch name := string(key); name {
		case "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model":
			if all[name] != nil {
				return fmt.Errorf("there are two fields %s", name)
			}
			all[name] = w.value()
			return nil
		default:
			return fmt.Errorf("the field %.40q is not known", name)
		}
	})
	return all, err
}

func (l *Local) read(file []byte) error {
	all, err := readSections(file)
	if err != nil {
		return err
	}
	if isNull(all["model"]) {
		return errors.New("there is no model in it; is this a tokenizer.json?")
	}
	if l.model, l.vocab, err = readModel(all["model"]); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	if l.normalize, err = readNormalizer(all["normalizer"]); err != nil {
		return err
	}
	if l.splitter, err = readSplitter(all["pre_tokenizer"]); err != nil {
		return err
	}
	if l.frame, err = readFrame(all["post_processor"], 0); err != nil {
		return fmt.Errorf("post_processor: %w", err)
	}
	decoder, err := readDecoder(all["decoder"])
	if err != nil {
		return fmt.Errorf("decoder: %w", err)
	}
	if l.added, err = readAddedTokens(all["added_tokens"], l.vocab); err != nil {
		return fmt.Errorf("added_tokens: %w", err)
	}
	if err := l.settings.readPadding(all["padding"]); err != nil {
		return fmt.Errorf("padding: %w", err)
	}
	l.settings.apply(l.added)
	return l.finish(decoder)
}

// finish derives what the parts give together.
func (l *Local) finish(d decoder) error {
	err := l.added.normalize(l.normalize)
	if err == nil {
		l.raw, l.cooked, err = newMatchers(l.added)
	}
	if err != nil {
		return fmt.Errorf("added_tokens: %w", err)
	}
	l.tokens = newTokenTexts(l.vocab, l.added, d)
	l.ids = l.tokens.ids()
	l.special = l.settings.specialIDs(l.added)
	l.firstAsks = asksForFirst(l.splitter)
	l.bpe, _ = l.model.(*bpe)
	l.cleanUp = l.settings.cleanUp && (l.bpe == nil || l.settings.cleanUpBPE)
	return nil
}

// VocabSize is the number of tokens of the model, without added ones.
func (l *Local) VocabSize() int { return l.vocab.size }

// IDs lists the ids of all tokens, ascending, added ones among them. The caller must not change it.
func (l *Local) IDs() []int { return l.ids }

// SpecialIDs are the ids of the special tokens that the files name, ascending: beginning, end, unknown and so on, and
// the extra ones. Where they name none it is AddedSpecialIDs. The caller must not change it.
func (l *Local) SpecialIDs() []int { return l.special }

// AddedSpecialIDs are the ids of the added tokens that are flagged as special, ascending.
func (l *Local) AddedSpecialIDs() []int { return l.added.specialIDs() }

// SpecialTokensToAdd is how many tokens EncodeSpecial puts around a text.
func (l *Local) SpecialTokensToAdd() int { return l.frame.size() }

// SpecialTokens are the texts of the named special tokens, such as "bos_token", which chat templates use.
func (l *Local) SpecialTokens() map[string]string {
	names := map[string]string{}
	for _, n := range l.settings.named() {
		names[n.name] = n.token.content
	}
	return names
}
