package datasets

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"benchtop/internal/assert"
)

// Something behind the conversations of a flow is behind those that follow it, too, and the rest of the flow stays.
func TestThrough(t *testing.T) {
	one := func(id string) []Conversation { return []Conversation{{ID: id, Turns: []Turn{{}, {}}}} }
	closed, opened := 0, 0
	f := ListOf(one("a"), "letters")
	f.Turns, f.Close = TurnsIn(one("a")), func() { closed++ }
	f.More = func() (Flow, error) {
		if opened++; opened > 1 {
			return Flow{}, errors.New("no more letters")
		}
		return ListOf(one("b"), "more letters"), nil
	}
	n := 0
	f = f.Map(func(c *Conversation) {
		n++
		c.ID += fmt.Sprint(n)
	})
	if got := drain(t, f); len(got) != 1 || got[0].ID != "a1" || f.About != "letters" || f.Len != 1 || f.Turns != 2 {
		t.Errorf("got %+v of %+v", got, f)
	}
	if _, err := f.Next(); err != io.EOF {
		t.Errorf("behind the end: %v", err)
	}
	more := must(f.More())(t)
	if got := drain(t, more); len(got) != 1 || got[0].ID != "b2" || more.More != nil {
		t.Errorf("got %+v", got)
	}
	complains(t, failure(f.More()), "no more letters")
	f.End()
	more.End()
	assert.Equal(t, closed, 1, "closed %d times", closed)
}
