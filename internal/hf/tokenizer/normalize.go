package tokenizer

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// normalizer rewrites text before it is split: the normalizer of a tokenizer.json. It is safe for concurrent use.
type normalizer func(string) (string, error)

// readNormalizer reads a normalizer object; nil for one that is null or absent. A type or a field that it does not know
// is an error that names it.
func readNormalizer(raw json.RawMessage, depth int) (normalizer, error) {
	return readObject("normalizer", raw, depth, makeNormalizer)
}

func makeNormalizer(kind string, raw json.RawMessage, depth int) (normalizer, error) {
	if kind == "Sequence" {
		return readNormalizerSequence(raw, depth)
	}
	if read := map[string]func(json.RawMessage) (normalizer, error){
		"Strip":   withSettings(stripSettings{}, newStrip, "strip_left", "strip_right"),
		"Replace": withSettings(replaceSettings{}, newReplace, "pattern", "content"),
		"Prepend": withSettings(prependSettings{}, newPrepend, "prepend"),
		"BertNormalizer": withSettings(bertNormalizer{}, newBertNormalizer, "clean_text", "handle_chinese_chars",
			"lowercase"),
		"Precompiled": withSettings(precompiledSettings{}, newPrecompiled, "precompiled_charsmap"),
	}[kind]; read != nil {
		return read(raw)
	}
	// These have no settings.
	plain, known := map[string]func(string) string{
		"NFC": norm.NFC.String, "NFD": norm.NFD.String, "NFKC": norm.NFKC.String, "NFKD": norm.NFKD.String,
		"Lowercase": lower, "StripAccents": func(text string) string { return without(text, isAccent) },
		"ByteLevel": byteLevel, "Nmt": nmt,
	}[kind]
	if !known {
		return nil, errors.New("this type is not known")
	}
	return always(plain), readStage(raw, &struct{ Type string }{})
}

// always makes a normalizer of a function that cannot fail.
func always(f func(string) string) normalizer {
	return func(text string) (string, error) { return f(text), nil }
}

var errGrowth = fmt.Errorf("a text became more than %d times as long", maxGrowth)

// mostBytes is how long a text of so many bytes may become by all stages of a sequence, each of which makes it longer
// by a bounded factor only: a file may hold so many stages that no memory would hold the result. Short texts have some
// more, for what is put before them.
func mostBytes(size int) int { return maxGrowth * (size + maxTokenBytes) }

func readNormalizerSequence(raw json.RawMessage, depth int) (normalizer, error) {
	var s struct {
		Type        string
		Normalizers []json.RawMessage
	}
	if err := readStage(raw, &s, "normalizers"); err != nil {
		return nil, err
	}
	stages, err := readSequence(s.Normalizers, depth, readNormalizer)
	if err != nil {
		return nil, err
	}
	return func(text string) (string, error) {
		most := mostBytes(len(text))
		var err error
		for _, stage := range stages {
			if text, err = stage(text); err != nil {
				return "", err
			}
			if len(text) > most {
				return "", errGrowth
			}
		}
		return text, nil
	}, nil
}

type stripSettings struct {
	Type  string
	Left  bool `json:"strip_left"`
	Right bool `json:"strip_right"`
}

func newStrip(s stripSettings) (normalizer, error) {
	return always(func(text string) string {
		if s.Left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if s.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}), nil
}

type prependSettings struct{ Type, Prepend string }

func newPrepend(s prependSettings) (normalizer, error) {
	if len(s.Prepend) > maxTokenBytes {
		return nil, fmt.Errorf("%d bytes to prepend, more than the %d that are taken", len(s.Prepend), maxTokenBytes)
	}
	return always(func(text string) string {
		if text == "" {
			return ""
		}
		return s.Prepend + text
	}), nil
}

type replaceSettings struct {
	Type, Content string
	Pattern       json.RawMessage
}

func newReplace(s replaceSettings) (normalizer, error) {
	if len(s.Content) > maxGrowth {
		return nil, fmt.Errorf("content of %d bytes, more than the %d that are taken", len(s.Content), maxGrowth)
	}
	find, err := readFinder(s.Pattern)
	if err != nil {
		return nil, err
	}
	return func(text string) (string, error) {
		if text == "" { // not even an empty match is looked for
			return "", nil
		}
		var out strings.Builder
		end := 0
		err := find(text, func(from, to int) {
			out.WriteString(text[end:from])
			out.WriteString(s.Content)
			end = to
		})
		out.WriteString(text[end:])
		return out.String(), err
	}, nil
}

// nmt removes control characters and makes other blanks one kind of blank, as machine translation systems did.
func nmt(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 0x01 <= r && r <= 0x08, r == 0x0B, 0x0E <= r && r <= 0x1F, r == 0x7F, r == 0x8F, r == 0x9F:
			return -1
		case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, 0x200B <= r && r <= 0x200F, r == 0x2028,
			r == 0x2029,
			r == 0x2581, r == 0xFEFF, r == 0xFFFD:
			return ' '
		}
		return r
	}, text)
}

// bertNormalizer is the normalization of BERT.
type bertNormalizer struct {
	Type       string
	Clean      bool  `json:"clean_text"`
	Ideographs bool  `json:"handle_chinese_chars"`
	Accents    *bool `json:"strip_accents"` // nil: as Lower
	Lower      bool  `json:"lowercase"`
}

func newBertNormalizer(b bertNormalizer) (normalizer, error) {
	if b.Accents == nil {
		b.Accents = &b.Lower
	}
	return always(b.normalize), nil
}

func (b *bertNormalizer) normalize(text string) string {
	if b.Clean {
		text = strings.Map(cleaned, text)
	}
	if b.Ideographs && strings.ContainsFunc(text, isIdeograph) {
		text = spaced(text)
	}
	if *b.Accents {
		text = without(norm.NFD.String(text), isNonspacing)
	}
	if b.Lower {
		text = lower(text)
	}
	return text
}

// cleaned makes blanks of all white space and drops invisible characters.
func cleaned(r rune) rune {
	switch {
	case r == 0, r == unicode.ReplacementChar, isControl(r):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// spaced sets blanks around ideographs, so that each becomes a word.
func spaced(text string) string {
	var out strings.Builder
	for _, r := range text {
		if isIdeograph(r) {
			out.WriteByte(' ')
			out.WriteRune(r)
			out.WriteByte(' ')
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// charsmap replaces characters as a SentencePiece model was trained to: a double-array trie (the darts-clone format)
// leads from a few bytes of text to a place in a blob of replacements, each of which ends with a zero byte.
type charsmap struct {
	units []uint32
	blob  []byte
}

// Longer clusters are looked up character by character.
const longestCluster = 6

type precompiledSettings struct {
	Type     string
	Charsmap string `json:"precompiled_charsmap"`
}

func newPrecompiled(s precompiledSettings) (normalizer, error) {
	var m *charsmap
	data, err := base64.StdEncoding.DecodeString(s.Charsmap)
	if err == nil {
		m, err = newCharsmap(data)
	}
	if err != nil {
		return nil, fmt.Errorf("precompiled_charsmap: %w", err)
	}
	return always(m.normalize), nil
}

// precompiledStage is the first normalizer of type Precompiled, nil if there is none.
func precompiledStage(normalizer json.RawMessage) (json.RawMessage, error) {
	if isNull(normalizer) {
		return nil, nil
	}
	type stage struct {
		Type        string            `json:"type"`
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	var whole stage
	if err := json.Unmarshal(normalizer, &whole); err != nil {
		return nil, fmt.Errorf("normalizer: %w", plainly(err))
	}
	if whole.Type != "Sequence" {
		whole.Normalizers = []json.RawMessage{normalizer}
	}
	for _, raw := range whole.Normalizers {
		var one stage
		if json.Unmarshal(raw, &one) == nil && one.Type == "Precompiled" {
			return raw, nil
		}
	}
	return nil, nil
}

// newCharsmap reads the size of the trie in bytes, the trie and the blob.
func newCharsmap(data []byte) (*charsmap, error) {
	const width = 4
	if len(data) < width {
		return nil, errors.New("cut short")
	}
	size := binary.LittleEndian.Uint32(data)
	data = data[width:]
	if size == 0 || size%width != 0 || uint64(size) > uint64(len(data)) {
		return nil, fmt.Errorf("a trie of %d bytes in %d", size, len(data))
	}
	m := &charsmap{units: make([]uint32, size/width), blob: data[size:]}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(data[i*width:])
	}
	if !utf8.Valid(m.blob) {
		return nil, errors.New("replacements that are not UTF-8")
	}
	for text := range bytes.SplitSeq(m.blob, []byte{0}) {
		if len(text) > maxGrowth {
			return nil, fmt.Errorf("a replacement of %d bytes, more than the %d that are taken", len(text), maxGrowth)
		}
	}
	return m, nil
}

func (m *charsmap) normalize(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for state := -1; text != ""; {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		if len(cluster) < longestCluster {
			if replacement, ok := m.lookup(cluster); ok {
				out.Write(replacement)
				continue
			}
		}
		for i, r := range cluster {
			if replacement, ok := m.lookup(cluster[i : i+runeSize(cluster[i:])]); ok {
				out.Write(replacement)
				continue
			}
			out.WriteRune(r)
		}
	}
	return out.String()
}

func runeSize(text string) int {
	_, size := utf8.DecodeRuneInString(text)
	return size
}

// lookup returns the replacement for the shortest beginning of key that has one; the rest of key is lost, as in
// the reference.
func (m *charsmap) lookup(key string) (replacement []byte, ok bool) {
	const leaf, terminal = 1 << 8, 1 << 31
	at := childOffset(m.units[0])
	for _, c := range []byte(key) {
		if c == 0 {
			return nil, false
		}
		at ^= uint32(c)
		if at >= uint32(len(m.units)) {
			return nil, false
		}
		unit := m.units[at]
		if unit&(terminal|0xFF) != uint32(c) {
			return nil, false
		}
		at ^= childOffset(unit)
		if unit&leaf == 0 {
			continue
		}
		if at >= uint32(len(m.units)) || m.units[at]&^terminal > uint32(len(m.blob)) {
			return nil, false
		}
		text, _, _ := bytes.Cut(m.blob[m.units[at]&^terminal:], []byte{0})
		return text, true
	}
	return nil, false
}

// childOffset is how far a unit's children are from it, in the bits of darts-clone's format.
func childOffset(unit uint32) uint32 { return (unit >> 10) << ((unit & (1 << 9)) >> 6) }
