package outage

import (
	"fmt"
	"testing"
	"time"

	"benchtop/metrics"
)

// Outages are found in any order of requests.
func TestPast(t *testing.T) {
	type answer struct{ sent, last int }
	for _, c := range []struct {
		name    string
		answers []answer
		failed  []int // ends of requests that failed as without a server; negative for another failure
		want    string
		gone    int
	}{
		{"never there", nil, []int{1, 2, 3}, "-1ns 3;", 3},
		{"two are few", []answer{{0, 1}}, []int{2, 3}, "", 0},
		{"gone", []answer{{0, 1}, {1, 3}}, []int{4, 5, 6, 7}, "4s 4;", 4},
		{"back", []answer{{0, 3}, {9, 10}}, []int{4, 5, 6, 7}, "4s 4;", 0},
		{"twice", []answer{{0, 3}, {9, 10}}, []int{4, 5, 6, 11, 12, 13}, "4s 3;11s 3;", 3},
		{"another answer under way", []answer{{0, 8}}, []int{4, 5, 6, 7}, "", 0},
		{"not in a row", []answer{{0, 3}, {5, 6}}, []int{4, 4, 7, 7}, "", 0},
		{"other failures", []answer{{0, 3}}, []int{4, 5, -6, -7, -8}, "", 0},
		{"other failures in it", []answer{{0, 3}}, []int{4, 5, 6, -7, -3}, "3s 5;", 3},
		{"a damaged time", []answer{{3, 1}}, []int{4, 5, 6}, "-1ns 3;", 3},
	} {
		for _, backwards := range []bool{false, true} {
			var p Past
			for i := range c.answers {
				a := c.answers[i]
				if backwards {
					a = c.answers[len(c.answers)-1-i]
				}
				p.Answered(time.Duration(a.sent)*time.Second, time.Duration(a.last)*time.Second)
				if a.last >= a.sent {
					p.Reached(time.Duration(a.last) * time.Second)
				}
			}
			p.Answered(0, metrics.Never)
			for i := range c.failed {
				at := c.failed[i]
				if backwards {
					at = c.failed[len(c.failed)-1-i]
				}
				p.Failed(time.Duration(max(at, -at))*time.Second, time.Duration(max(at, -at))*time.Second, at > 0)
			}
			got := ""
			for _, o := range p.Outages() {
				got += fmt.Sprintf("%s %d;", o.Since, len(o.Lost))
			}
			if got != c.want || p.Gone() != c.gone {
				t.Errorf("%s, backwards %v: outages %q, gone %d; want %q, %d", c.name, backwards, got, p.Gone(), c.want,
					c.gone)
			}
		}
	}
}
