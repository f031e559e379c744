package live

import (
	"math/rand/v2"
	"slices"
	"testing"

	"benchtop/internal/assert"
)

// A list of pages has all that was added, from any place on, also as it was when it was shared.
func TestPages(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p pages[requestSummary]
	var want []requestSummary
	shared := map[int]pages[requestSummary]{}
	for i := range 3*pageLength + 5 {
		if i%700 == 0 || i%pageLength < 2 {
			shared[i] = p.from(0)
		}
		e := requestSummary{loadTime: 100 * second, ttft: micros(r.Uint32()), output: uint32(i),
			groups: groupPlaces{1, 0, 255}}
		for k := range e.rest {
			e.rest[k] = -1
		}
		p.add(e)
		want = append(want, e)
	}
	shared[len(want)] = p.from(0)
	all := func(p pages[requestSummary]) (out []requestSummary) {
		for e := range p.all() {
			out = append(out, *e)
		}
		return out
	}
	for n, part := range shared {
		assert.EqualAll(t, all(part), want[:n], "the first %d are others", n)
		if rest := p.from(n); !slices.Equal(all(rest), want[n:]) {
			t.Errorf("those from %d on are others", n)
		}
	}
	for range p.all() {
		break
	}
}

// Requests that are over take less than a third of their memory.
func TestPagesAreSmall(t *testing.T) {
	x := recorded(40 * pageLength).index
	if each := float64(x.bytes()) / (39 * pageLength); each > 24 {
		t.Errorf("%.1f bytes a request", each)
	}
}

// bytes are those of the pages that are packed.
func (x *requestIndex) bytes() (n int) {
	for _, past := range [][][]byte{x.arrived.past, x.sentAt.past, x.ended.past} {
		for _, page := range past {
			n += cap(page)
		}
	}
	return n
}
