package datasets

import "benchtop/datasets/tokenizer"

// fitRetries is how often fit corrects a prompt before it settles for what came out.
const fitRetries = 10

// fit turns ids into a text that a server will count as target tokens. Decoding and encoding need not give the ids
// back, so it does both, cuts or extends the result, and tries again:
//
//	ids ── decode ──▶ text ── encode ──▶ ids ── as many as wanted? ──▶ done
//	 ▲                                    │ no
//	 └──── cut, or append random ids ◀────┘
//
// It returns the text, its ids and by how many tokens they miss the target, which is 0 unless the retries ran out. draw
// gives the ids to append, special ones among them, as vLLM has it.
func fit(tok tokenizer.Tokenizer, ids []int, target, retries int, draw func() int) (text string, fitted []int, miss int, err error) {
	for ; ; retries-- {
		if text, err = tok.Decode(ids); err != nil {
			return "", nil, 0, err
		}
		if ids, err = tok.Encode(text); err != nil {
			return "", nil, 0, err
		}
		if retries <= 0 || len(ids) == target {
			return text, ids, len(ids) - target, nil
		}
		ids = ids[:min(len(ids), target):min(len(ids), target)]
		for len(ids) < target {
			ids = append(ids, draw())
		}
	}
}
