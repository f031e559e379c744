package metrics

// Again returns the request as it was when it was due, to be told to a recorder once more by Admit, Next and End.
func (r *Request) Again() Request {
	out := NewRequest(r.Index)
	out.Conversation, out.Turn, out.ID, out.Model, out.MaxTokens = r.Conversation, r.Turn, r.ID, r.Model, r.MaxTokens
	out.Scheduled, out.Due, out.InputTokens, out.InputSource = r.Scheduled, r.Due, r.InputTokens, r.InputSource
	return out
}

// Admit makes r what the request was when its first byte was sent.
func (r *Request) Admit(as *Request) {
	r.Admitted, r.Sent, r.Encode, r.Connect, r.Redials = as.Admitted, as.Sent, as.Encode, as.Connect, as.Redials
}

// Next files the chunk that came next; false if there is none. The chunks are shared.
func (r *Request) Next(as *Request) bool {
	n := len(r.Chunks)
	if n >= len(as.Chunks) {
		return false
	}
	c := as.Chunks[n]
	r.Chunks = as.Chunks[: n+1 : n+1]
	r.pass(c)
	if as.FirstAnswer == c.At { // a journal does not keep the answer flag of chunks
		r.FirstAnswer = c.At
	}
	return true
}

// End makes r what the request was when it was done.
func (r *Request) End(as *Request) {
	live := r.live
	*r = *as
	r.live = live
}
