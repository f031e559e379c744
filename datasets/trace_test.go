package datasets

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/hf/numpy"
)

// openTrace opens the data set with flags, as a user would.
func openTrace(t *testing.T, content string, c Common, flags given, adds int) (Flow, error) {
	t.Helper()
	c.Path = poemFile(t, content)
	return opened(t, "trace", c, flags, toyTools{newToy(t, "identity", 997, []int{0}, adds), new([]string)})
}

const traceRows = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.98,40,10\n2023-11-16 " +
	"18:17:04.03,1,8\n2023-11-16 18:17:05,0,3\n2023-11-16 18:17:14.03,110,27\n"

// Prompts have the lengths of the trace, special tokens included, are made as those of random, and come at the times of
// the trace.
func TestTrace(t *testing.T) {
	for _, adds := range []int{0, 2} {
		d := must(openTrace(t, traceRows, Common{Seed: 5, IDPrefix: "t-"}, nil, adds))(t)
		same(t, "description", d.About[strings.Index(d.About, "over "):],
			"over 10.05s (TIMESTAMP, ContextTokens, GeneratedTokens), mean 50.3, P50 40, P99 110 input tokens, mean "+
				"15.0, P50 10, P99 27 output tokens, as text; 1 rows without input or output tokens left out")
		times := []time.Duration{0, 50 * time.Millisecond, 10050 * time.Millisecond}
		same(t, "times", d.Times(), times)
		same(t, "length", d.Len, 3)
		gen := numpy.NewGenerator(5)
		got := drain(t, d)
		for i, want := range [][2]int{{40, 10}, {1, 8}, {110, 27}} {
			turn, input := got[i].Turns[0], max(1, want[0]-adds)
			same(t, "input tokens", []int{turn.InputTokens, len(parseIDs(turn.Text))}, []int{input, input})
			same(t, "output tokens", turn.MaxTokens, want[1])
			same(t, "time", got[i].At, times[i])
			same(t, "id", got[i].ID, "t-"+string(rune('0'+i)))
			same(t, "first token", parseIDs(turn.Text)[0], (int(gen.Integers(0, 997))+i)%996+1)
		}
		same(t, "miss", d.Miss(), 0)
	}
}

func TestTraceFlags(t *testing.T) {
	d := must(openTrace(t, "a,b,c\n1000,2,3\n1500,4,5\n1400,4,6\n", Common{Prompts: 3},
		given{"trace-columns": "timestamp=a,input=b,output=c", "trace-unit": "ms"}, 0))(t)
	same(t, "times", d.Times(), []time.Duration{0, 400 * time.Millisecond, 500 * time.Millisecond})
	same(t, "description", d.About[strings.Index(d.About, "over"):],
		"over 500ms (a, b, c), mean 3.3, P50 4, P99 4 input tokens, mean 4.7, P50 5, P99 6 output tokens, as text; "+
			"time stamps in ms; sorted by time")
	for _, c := range []struct {
		content string
		flags   given
		want    string
	}{
		{traceRows, given{"trace-columns": "x=a"}, "--trace-columns: expected timestamp=NAME,input=NAME,output=NAME"},
		{traceRows, given{"trace-unit": "min"}, `--trace-unit "min": use s, ms, us or ns`},
		{traceRows, given{"trace-columns": "input=b"},
			`unknown column "b"; the columns are "TIMESTAMP", "ContextTokens", "GeneratedTokens"`},
		{traceRows + "2023-11-16 18:17:15,-1,1", nil,
			`, line 6: column "ContextTokens": expected a whole number from 0 to 16777216: got "-1"`},
	} {
		complains(t, failure(openTrace(t, c.content, Common{}, c.flags, 0)), c.want)
	}
	complains(t, failure(opened(t, "trace", Common{Path: filepath.Join("testdata", "none.csv")}, nil, wordTools())),
		"dataset trace: testdata/none.csv: file does not exist; give the path of a trace, in CSV or with an object on "+
			"each line")
}
