package tokenizer

// wordLevel has a token for every word it knows.
type wordLevel struct {
	vocab   *vocabulary
	unknown unknown
}

func readWordLevel(f modelFields, v *vocabulary) (model, error) {
	return &wordLevel{v, newUnknown(f.Unknown, v)}, nil
}

func (m *wordLevel) encode(ids []int, piece string, _ *scratch) ([]int, error) {
	id := m.vocab.find(piece)
	if id < 0 {
		var err error
		if id, err = m.unknown.or(piece); err != nil {
			return ids, err
		}
	}
	return append(ids, int(id)), nil
}
