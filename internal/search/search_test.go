package search

import "testing"

func TestHopeless(t *testing.T) {
	s := New(Options{From: 1, Most: 100, Whole: true})
	p, ok := s.Next()
	if !ok || p.Load != 1 {
		t.Fatal(p, ok)
	}
	s.Observe(1, []Evidence{{Good: 0, Requests: 100, Share: .95, Ratio: 3}})
	if p, ok := s.Next(); ok {
		t.Error(p)
	}
	t.Logf("%+v", s.Results())
}
