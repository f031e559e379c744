package metrics

import "testing"

// Each column has one figure and a heading, a count its key; remarks are of counts. Each tally has a key of its own.
func TestColumnsAreWhole(t *testing.T) {
	for i := range Columns {
		c := &Columns[i]
		if c.Heading == "" || (c.Count == nil) == (c.Share == nil) || (c.Count == nil) != (c.Key == "") ||
			c.Remark != "" && c.Count == nil {
			t.Errorf("column %d, %q, is not whole", i, c.Heading)
		}
	}
	of := map[string]int{"": -1}
	for i, key := range TallyKeys {
		if other, taken := of[key]; taken {
			t.Errorf("tally %d has the key %q, as %d", i, key, other)
		}
		of[key] = i
	}
}

// The plan asks for counts of users, whatever they are; other figures are there where the requests have some.
func TestColumnsOf(t *testing.T) {
	names := func(p *Plan, c Counts) (out string) {
		for _, x := range ColumnsOf(p, &c) {
			out += x.Heading + " "
		}
		return out
	}
	all := Counts{Abandoned: 1, Retried: 1, Refusals: 1, Judged: 2, Cached: TokenShare{Of: 3}, Ideal: TokenShare{Of: 3}}
	for _, c := range []struct {
		plan *Plan
		of   Counts
		want string
	}{
		{nil, Counts{Abandoned: 1}, ""},
		{&Plan{}, all, "cached ideal correct refusals "},
		{&Plan{Abandon: "5%"}, Counts{}, "left "},
		{&Plan{Abandon: "5%", Retry: "backoff"}, all, "left retried cached ideal correct refusals "},
	} {
		if got := names(c.plan, c.of); got != c.want {
			t.Errorf("columns %q, want %q", got, c.want)
		}
	}
}
