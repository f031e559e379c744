package tokenizer

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// charsmap replaces characters as a SentencePiece model was trained to: a double-array trie (the darts-clone format)
// leads from a few bytes of text to a place in a blob of replacements, each of which ends with a zero byte.
type charsmap struct {
	units []uint32
	blob  []byte
}

// Longer clusters are looked up character by character.
const longestCluster = 6

func readPrecompiled(raw json.RawMessage) (normalizer, error) {
	var s struct {
		Type     string
		Charsmap string `json:"precompiled_charsmap"`
	}
	if err := readStage(raw, &s, "precompiled_charsmap"); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(s.Charsmap)
	if err != nil {
		return nil, fmt.Errorf("precompiled_charsmap: %w", err)
	}
	m, err := newCharsmap(data)
	if err != nil {
		return nil, fmt.Errorf("precompiled_charsmap: %w", err)
	}
	return always(m.normalize), nil
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
func childOffset(unit uint32) uint32 {
	return (unit >> 10) << ((unit & (1 << 9)) >> 6)
}
