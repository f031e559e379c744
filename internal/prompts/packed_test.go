package prompts

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/datasets"
	"benchtop/internal/hf/media"
)

// Whatever a conversation holds is there again, also what a new field would hold.
func TestPackedLosesNothing(t *testing.T) {
	bare := datasets.Conversation{ID: "r-7", Turns: []datasets.Turn{{
		TokenIDs: []int{1 << 40, 0, -3, 7}, InputTokens: 4, MaxTokens: 1 << 33, IdealTokens: 64, IdealKnown: true,
	}}}
	for _, c := range []datasets.Conversation{
		bare,
		{Turns: []datasets.Turn{{Text: "a", InputTokens: -1}}},
		{ID: "x", Turns: []datasets.Turn{{}}},
	} {
		p := pack(c)
		if p.whole != nil {
			t.Errorf("%v is not packed", c)
		}
		if d := cmp.Diff(c, p.conversation()); d != "" {
			t.Error(d)
		}
	}
	full := reflect.ValueOf(datasets.Turn{
		Text: "a", TokenIDs: []int{}, InputTokens: 1, MaxTokens: 2, After: []int{}, Delay: 1, At: 1, IdealTokens: 1,
		IdealKnown: true, Batch: []datasets.Turn{}, Media: json.RawMessage{}, Audio: &media.Audio{},
		Messages: json.RawMessage{}, Class: "c", Overrides: json.RawMessage{}, Headers: [][2]string{},
		Prompt: datasets.Prompt{Learn: func(*datasets.Turn, int) {}}, Judge: noJudge{},
	})
	for i := range full.NumField() {
		name := full.Type().Field(i).Name
		if full.Field(i).IsZero() {
			t.Errorf("the test lacks %s", name)
		}
		var one datasets.Turn
		reflect.ValueOf(&one).Elem().Field(i).Set(full.Field(i))
		p := pack(datasets.Conversation{Turns: []datasets.Turn{one}})
		got := p.conversation()
		if reflect.ValueOf(got.Turns[0]).Field(i).IsZero() {
			t.Errorf("%s is lost", name)
		}
	}
	for _, c := range []datasets.Conversation{
		{}, {At: time.Second}, {Session: "s"}, {Timed: true}, {Replies: true}, {Turns: make([]datasets.Turn, 2)},
	} {
		if c.Turns == nil {
			c.Turns = bare.Turns
		}
		p := pack(c)
		if d := cmp.Diff(c, p.conversation()); d != "" {
			t.Error(d)
		}
	}
}

type (
	judge   = datasets.Judge
	noJudge struct{ judge }
)

// A prompt of the random data set takes at most a quarter of what it does otherwise.
func TestPackedIsSmall(t *testing.T) {
	c := datasets.Conversation{ID: "benchmark-0-123456", Turns: []datasets.Turn{{InputTokens: 16, MaxTokens: 16}}}
	for id := range 16 {
		c.Turns[0].TokenIDs = append(c.Turns[0].TokenIDs, 31_000+id)
	}
	p, whole := pack(c), packed{whole: &c}
	if 4*p.weight() > whole.weight() {
		t.Errorf("%d bytes, of %d", p.weight(), whole.weight())
	}
}
