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
