package tokenizer

import "unicode/utf8"

// Encode returns the ids of text, without special tokens of the tokenizer's own. What is not UTF-8 in text counts as U+FFFD.
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

// normalizePart normalizes what lies between added tokens, and says no longer that it is the beginning of the text if what
// the text begins with is gone: the Hugging Face library goes by where the rest was.
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

// encodePieces splits what lies between added tokens and has the model encode the pieces.
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
