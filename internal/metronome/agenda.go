package metronome

// agenda holds streams, the one due first on top: a binary heap with the due times beside the pointers, so that sifting
// touches no stream.
type agenda []appointment

type appointment struct {
	due int64
	s   *stream
}

func (a *agenda) add(due int64, s *stream) {
	*a = append(*a, appointment{due, s})
	h := *a
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].due <= h[i].due {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// postpone moves the top to a later time.
func (a agenda) postpone(due int64) {
	a[0].due = due
	a.sink()
}

// drop removes the top.
func (a *agenda) drop() {
	h := *a
	end := len(h) - 1
	h[0] = h[end]
	h[end] = appointment{} // forget the stream
	*a = h[:end]
	a.sink()
}

// sink moves the top down to its place.
func (a agenda) sink() {
	for i := 0; ; {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(a); child++ {
			if a[child].due < a[first].due {
				first = child
			}
		}
		if first == i {
			return
		}
		a[i], a[first] = a[first], a[i]
		i = first
	}
}
