package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Files are the contents of the files that describe a tokenizer; all but the first may be nil.
type Files struct {
	Tokenizer     []byte // tokenizer.json
	Config        []byte // tokenizer_config.json
	SpecialTokens []byte // special_tokens_map.json
	Model         []byte // config.json
	Repository    string // the model's name on the hub, "" for none
	HasTekken     bool   // there is a tekken.json
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
	pipeline  *pipeline // of the tokenizer's class; nil where the file is followed
	doubt     string    // why the counts may differ from those of transformers
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

// Read reads a tokenizer. A setting that it does not know, or that would make a text come out otherwise than with the
// library, is an error that names it: the caller then counts in another way, such as by asking the server.
func Read(f Files) (*Local, error) {
	l := &Local{}
	var err error
	if l.settings, err = readSettings(f.Config, f.SpecialTokens); err != nil {
		return nil, err
	}
	names := &l.settings.names
	names.readModelConfig(f.Model)
	names.repository, names.hasTekken, names.isByteLevel = f.Repository, f.HasTekken,
		bytes.Contains(f.Tokenizer, []byte(`"ByteLevel"`))
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
	return all, eachMember(file, func(name string, value []byte) error {
		switch name {
		case "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
			"decoder", "model":
			if all[name] != nil {
				return fmt.Errorf("duplicate field %s", name)
			}
			all[name] = value
			return nil
		}
		return fmt.Errorf("the field %.40q is not known", name)
	})
}

func (l *Local) read(file []byte) error {
	all, err := readSections(file)
	if err != nil {
		return err
	}
	if isNull(all["model"]) {
		return errors.New("no model in it; is this a tokenizer.json?")
	}
	fields, err := readModelFields(all["model"])
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	if l.doubt, err = l.setUp(all, &fields); err != nil {
		return err
	}
	if l.model, l.vocab, err = newModel(fields); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	if l.normalize, err = readNormalizer(all["normalizer"], 0); err != nil {
		return err
	}
	if l.splitter, err = readSplitter(all["pre_tokenizer"], 0); err != nil {
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
	if l.pipeline != nil {
		l.pipeline.complete(l)
	}
	return l.finish(decoder)
}

// finish derives the rest from the parts.
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

// Doubt says why the counts may differ from those of transformers, "" where they do not.
func (l *Local) Doubt() string { return l.doubt }

// VocabSize is the number of tokens of the model, without added ones.
func (l *Local) VocabSize() int { return l.vocab.size }

// IDs lists the ids of all tokens, ascending, added ones among them. The caller must not change it.
func (l *Local) IDs() []int { return l.ids }

// SpecialIDs are the ids of the special tokens that the files name, ascending: beginning, end, unknown and so on, and
// the extra ones. Where they name none it is AddedSpecialIDs. The caller must not change it.
func (l *Local) SpecialIDs() []int { return l.special }

// NamedTokens are the special tokens by their names in the files, such as bos_token.
func (l *Local) NamedTokens() map[string]string {
	all := map[string]string{}
	for _, n := range l.settings.named() {
		all[n.name] = n.token.content
	}
	return all
}

// AddedSpecialIDs are the ids of the added tokens that are flagged as special, ascending.
func (l *Local) AddedSpecialIDs() []int { return l.added.specialIDs() }

// Concurrency is 0: texts are tokenized here.
func (l *Local) Concurrency() int { return 0 }

// Class is the class that Python's transformers makes of the files; "" where they name none.
func (l *Local) Class() string { return l.settings.names.resolve() }

// SpecialTokensToAdd is how many tokens EncodeSpecial puts around a text.
func (l *Local) SpecialTokensToAdd() int { return l.frame.size() }

// Encode returns the ids of text, without special tokens of the tokenizer's own. Bytes that are not UTF-8 count as
// U+FFFD.
func (l *Local) Encode(text string) ([]int, error) {
	return l.encode(make([]int, 0, len(text)/4+8), text)
}

// EncodeSpecial returns the ids of text between the special tokens that the tokenizer puts around it.
func (l *Local) EncodeSpecial(text string) ([]int, error) {
	ids := make([]int, 0, len(text)/4+8+l.frame.size())
	ids, err := l.encode(append(ids, l.frame.before...), text)
	if err != nil {
		return nil, err
	}
	return append(ids, l.frame.after...), nil
}

// Count returns how many ids EncodeSpecial gives.
func (l *Local) Count(text string) (int, error) {
	ids, err := l.EncodeSpecial(text)
	return len(ids), err
}

func (l *Local) encode(ids []int, text string) ([]int, error) {
	s := l.scratches.Get().(*scratch)
	defer l.scratches.Put(s)
	return l.encodeIn(s, ids, text)
}

// encodeIn is encode with a scratch of the caller's.
func (l *Local) encodeIn(s *scratch, ids []int, text string) ([]int, error) {
	s.last.begin(len(text))
	defer s.shrink(len(text))
	err := l.raw.cut(validText(text), func(f fragment) error {
		if f.id >= 0 {
			ids = append(ids, f.id)
			return nil
		}
		normalized, err := l.normalizePart(&f)
		if err != nil {
			return err
		}
		return l.cooked.cut(normalized, func(g fragment) error {
			if g.id >= 0 {
				ids = append(ids, g.id)
				return nil
			}
			var err error
			ids, err = l.encodePieces(ids, piece{g.text, f.first && g.first}, s)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// normalizePart normalizes the text between added tokens. It is no longer the beginning of the text once its first
// character is gone: the Hugging Face library goes by where the rest was.
func (l *Local) normalizePart(f *fragment) (string, error) {
	if l.normalize == nil || f.text == "" {
		return f.text, nil
	}
	text, err := l.normalize(f.text)
	if err != nil || !f.first || !l.firstAsks {
		return text, err
	}
	_, size := utf8.DecodeRuneInString(f.text)
	rest, err := l.normalize(f.text[size:])
	f.first = rest != text // the first character left something
	return text, err
}

// encodePieces splits the text between added tokens and has the model encode the pieces.
func (l *Local) encodePieces(ids []int, whole piece, s *scratch) ([]int, error) {
	s.pieces = append(s.pieces[:0], whole)
	pieces := s.pieces
	var err error
	if l.splitter != nil {
		if pieces, err = l.splitter.split(pieces); err != nil {
			return nil, err
		}
	}
	for _, p := range pieces {
		if p.text == "" {
			continue
		}
		before := len(ids)
		if known := l.again(p.text, &s.last); known != nil {
			ids = appendIDs(ids, known)
		} else if ids, err = l.model.encode(ids, p.text, s); err != nil {
			return nil, err
		}
		s.last.put(p.text, ids[before:])
	}
	return ids, nil
}

// Decode returns the text of ids, special tokens among them as they are written. An id that no token has stands for
// nothing; a negative one is an error.
func (l *Local) Decode(ids []int) (string, error) {
	text, err := l.tokens.decode(ids)
	if l.cleanUp {
		text = cleanUp(text, false)
	}
	return text, err
}

// tokenTexts are the texts of all tokens, for decoding.
type tokenTexts struct {
	texts   []string // by id
	has     []bool   // by id
	bytes   []string // by id, what tokens in the byte alphabet stand for; nil when the decoder is another
	decoder decoder  // nil for none: then blanks stand between tokens
}

// newTokenTexts puts the added tokens over those of the model.
func newTokenTexts(v *vocabulary, added *addedTokens, d decoder) tokenTexts {
	size := max(len(v.texts), added.top+1)
	t := tokenTexts{texts: make([]string, size), has: make([]bool, size), decoder: d}
	copy(t.texts, v.texts)
	copy(t.has, v.has)
	for _, a := range added.tokens {
		t.texts[a.id], t.has[a.id] = a.text, true
	}
	if d.isByteLevel() {
		t.readBytes()
	}
	return t
}

// readBytes works out what each token of the byte alphabet stands for, once instead of at every decoding.
func (t *tokenTexts) readBytes() {
	var arena []byte
	ends := make([]int, len(t.texts))
	for id, text := range t.texts {
		arena = appendByteLevel(arena, text)
		ends[id] = len(arena)
	}
	all := string(arena)
	t.bytes = make([]string, len(ends))
	start := 0
	for id, end := range ends {
		t.bytes[id] = all[start:end]
		start = end
	}
}

func (t *tokenTexts) decode(ids []int) (string, error) {
	if i := slices.IndexFunc(ids, func(id int) bool { return id < 0 }); i >= 0 {
		return "", fmt.Errorf("the token id %d is negative; ids count from 0", ids[i])
	}
	if t.bytes != nil {
		return t.join(ids), nil
	}
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if id < len(t.texts) && t.has[id] {
			tokens = append(tokens, t.texts[id])
		}
	}
	if t.decoder == nil {
		return strings.Join(tokens, " "), nil
	}
	return t.decoder.decode(tokens), nil
}

// join is decode for tokens in the byte alphabet.
func (t *tokenTexts) join(ids []int) string {
	size := 0
	for _, id := range ids {
		if id < len(t.bytes) {
			size += len(t.bytes[id])
		}
	}
	var b strings.Builder
	b.Grow(size)
	for _, id := range ids {
		if id < len(t.bytes) {
			b.WriteString(t.bytes[id])
		}
	}
	return validText(b.String())
}

// ids lists the ids that have a token.
func (t *tokenTexts) ids() []int {
	ids := make([]int, 0, len(t.has))
	for id, is := range t.has {
		if is {
			ids = append(ids, id)
		}
	}
	return ids
}
