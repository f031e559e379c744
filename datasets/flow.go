package datasets

import (
	"io"
	"time"
)

// Flow is the prompts of a run: conversations one after another, and what is known of them. One goroutine takes from
// it. A function that makes a flow of another uses that one up. Next and About are always there.
type Flow struct {
	Next Draw
	// About is a line about the prompts, for the head of a report.
	About string
	// Len is how many conversations there are in all, those taken already among them; 0 for no end.
	Len int
	// Turns is the number of turns of all conversations; 0 where each has one, and where the number is not known.
	Turns int
	// Times are the offsets from the start of the run at which the conversations of a recording start; nil where there
	// are none.
	Times func() []time.Duration
	// Miss is by how many tokens the prompts made so far are longer (above 0) or shorter than wanted, all together; nil
	// where that is not known. It is other than 0 only with tokenizers whose text does not encode to the ids it was
	// decoded from.
	Miss func() int
	// More opens prompts without end, of the same kind and none of them the same; nil where there are none.
	More func() (Flow, error)
	// Prefix are token ids of which all prompts have a beginning in common; nil where that is not known.
	Prefix []int
	// Close ends what makes the prompts, once no more are taken; nil where there is nothing to end.
	Close func()
}

// Draw makes the next conversation; it returns io.EOF behind the last one.
type Draw func() (Conversation, error)

// Through is the flow with something behind each conversation: wrap makes another Next of one. It is called for the
// prompts of More, too.
func (f Flow) Through(wrap func(Draw) Draw) Flow {
	f.Next = wrap(f.Next)
	if more := f.More; more != nil {
		f.More = func() (Flow, error) {
			next, err := more()
			if err != nil {
				return Flow{}, err
			}
			return next.Through(wrap), nil
		}
	}
	return f
}

// Map is the flow with every conversation changed. The turns may be shared, so change replaces those that it would
// write to.
func (f Flow) Map(change func(c *Conversation)) Flow {
	return f.Through(func(next Draw) Draw {
		return func() (Conversation, error) {
			c, err := next()
			if err == nil {
				change(&c)
			}
			return c, err
		}
	})
}

// End closes the flow.
func (f Flow) End() {
	if f.Close != nil {
		f.Close()
	}
}

// ListOf is the flow of conversations that are all there.
func ListOf(all []Conversation, about string) Flow {
	next := 0
	return Flow{About: about, Len: len(all), Next: func() (Conversation, error) {
		if next == len(all) {
			return Conversation{}, io.EOF
		}
		next++
		return all[next-1], nil
	}}
}

// TurnsIn is the number of turns of conversations.
func TurnsIn(all []Conversation) (n int) {
	for i := range all {
		n += len(all[i].Turns)
	}
	return n
}
