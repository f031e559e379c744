// Package numpy reproduces three random number generators bit for bit: numpy's Generator (PCG64), numpy's older
// global generator (Mersenne Twister) and Python's random module (the same twister, seeded and read differently).
//
// vLLM's benchmark client draws prompts and arrival times from them, so a client that wants to send the same
// requests at the same moments needs the same streams, down to which draw takes half a word and which a whole one.
// Only the operations that client uses are here; there are no arrays, no dtypes and no other distributions. None of it
// is fit for secrets.
//
// No generator is safe for concurrent use. Arguments that make no sense (an empty range, an index into nothing) are
// bugs of the caller and panic, as they do in math/rand; values from users are to be checked before they come here.
package numpy

// Streams holds the two global generators of vLLM's client. The client seeds both once, lets the dataset draw from
// them and goes on with arrival delays and the choice of LoRA modules, so that what a dataset drew shifts what follows.
// One Streams value handed from dataset to arrivals keeps that order; it must not be used by two goroutines at once.
type Streams struct {
	Python *Python // Python's random: shuffling and oversampling of files, LoRA modules
	Legacy *Legacy // numpy.random: arrival delays, some synthetic datasets
}

// NewStreams seeds both generators with the same number. Numpy refuses seeds outside [0, 2^32), hence the type.
func NewStreams(seed uint32) *Streams {
	return &Streams{Python: NewPython(int64(seed)), Legacy: NewLegacy(seed)}
}
