package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/numpy"
)

// recordedRange is the range of turns of conversations of a file: at least two, and as many as there are.
func (m *MultiTurn) recordedRange() (least, most int) {
	least, most = m.Min, m.Max
	most = cmp.Or(most, math.MaxInt)
	least = cmp.Or(least, min(2, most))
	return least, most
}

var errOtherTools = errors.New("its tool calls are in the form of chat completions; use --backend openai-chat")

// otherTools reports whether the messages of a chat have calls of tools in another form than chat completions.
func (c Common) otherTools() bool { return c.Forms != 0 && !c.Forms.Overlap(AsMessages) && c.chat() }

// openConversations opens the conversations of a file. output is the number of tokens of each answer; where it is 0, an
// answer has those that the file says, else the recorded answer's, else otherwise.
func openConversations(ctx context.Context, dataset string, c Common, t Tools, output, otherwise int) (Flow, error) {
	if f, generated, err := openGenerated(c, t); generated || err != nil {
		return f, inFile(dataset, c.Path, err)
	}
	file, err := textfile.Read(c.Path, conversationForm, readConversations)
	if err != nil {
		return Flow{}, inFile(dataset, c.Path, err)
	}
	all := file.all
	if file.tools && c.otherTools() {
		return Flow{}, inFile(dataset, c.Path, errOtherTools)
	}
	if file.bad > 0 {
		t.Note(fmt.Sprintf("%d of %d conversations left out as invalid; the first: %v", file.bad, file.bad+len(all),
			file.err))
	}
	py := t.Streams().Python
	rows := all
	py.Seed(c.Seed)
	shuffle(rows, c, py)
	want := c.Prompts
	k := newConversationMaker(c)
	least, most := c.MultiTurn.recordedRange()
	var list []Conversation
	for _, r := range rows {
		if want > 0 && len(list) == want {
			break
		}
		r.turns = r.turns[:min(len(r.turns), most)]
		if len(r.turns) < least {
			continue
		}
		if err := k.measure(ctx, r.turns, t.Text(), output, otherwise); err != nil {
			return Flow{}, inFile(dataset, c.Path, textfile.AtLine(r.line, err))
		}
		conversation, err := k.conversation(c.IDPrefix+strconv.Itoa(len(list)), r.turns)
		if err != nil {
			return Flow{}, inDataset(dataset, err)
		}
		list = append(list, conversation)
	}
	if len(list) == 0 {
		return Flow{}, inFile(dataset, c.Path,
			fmt.Errorf("none of its %d conversations has %d turns; lower --multi-turn-min-turns", len(all), least))
	}
	kind := fmt.Sprintf("%d conversations in %s, %s", len(all), c.Path, k.replies())
	f, err := c.listConversations(dataset, list, max(want, len(list)), kind, py)
	return f, inDataset(dataset, err)
}

// listConversations is listed for conversations of several turns, each with a name for the server.
func (c Common) listConversations(dataset string, all []Conversation, want int, kind string,
	py *numpy.Python) (Flow, error) {
	all, about, err := c.filled(dataset, all, want, kind, py)
	for i := range all {
		all[i].Session = all[i].ID
	}
	f := ListOf(all, about)
	f.Turns = TurnsIn(all)
	return f, err
}

// measure sets the numbers of tokens of turns.
func (k *conversationMaker) measure(ctx context.Context, turns []recordedTurn, text Text, output, otherwise int) error {
	texts := make([]string, 0, 2*len(turns))
	for i := range turns {
		texts = append(texts, turns[i].text, turns[i].answer)
	}
	counts := make([]int, len(texts))
	if text.Counter == nil {
		for i := range texts {
			counts[i] = (len(texts[i]) + 3) / 4 // an estimate
		}
	} else {
		var err error
		if counts, err = text.count(ctx, texts); err != nil {
			return err
		}
	}
	for i := range turns {
		t := &turns[i]
		t.tokens = max(1, counts[2*i])
		if t.answer != "" {
			t.replied = counts[2*i+1]
		}
		t.output = cmp.Or(output, t.output, t.replied, otherwise)
	}
	return nil
}
