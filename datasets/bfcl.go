package datasets

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/chattemplate"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/jsonscan"
	"benchtop/internal/parallel"
)

// BFCLRepository is the name of the Berkeley Function Calling Leaderboard on the Hugging Face hub.
const BFCLRepository = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"

// bfcl selects prompts from the Berkeley Function Calling Leaderboard: questions with tools to answer them. Only
// chat back ends can send them.
type bfcl struct {
	Common              // its Path is a directory of files BFCL_v3_<category>.json, the hub's cache, or BFCLRepository
	Categories []string // of questions, taken in turn
	OutputLen  int      // tokens
}

func (o bfcl) check() error {
	p := &problems{}
	if len(o.Categories) == 0 {
		p.add("no category is given; give --bfcl-categories, such as simple,multiple")
	}
	for _, category := range o.Categories {
		if category == "" || filepath.Base(category) != category || !filepath.IsLocal(category) {
			p.add("%q is not a category; give --bfcl-categories, such as simple,multiple", category)
		}
	}
	p.positive("number of prompts", o.Prompts)
	p.positive("output length", o.OutputLen)
	return p.of("bfcl")
}

const bfclForm = `an object like {"question": [[{"role": "user", "content": "text"}]], "function": [{"name": "f"}]}`

// maxDepth bounds the nesting of a question, since each level is walked through again.
const maxDepth = 100

// bfclRow is a question of the leaderboard.
type bfclRow struct {
	messages, tools json.RawMessage
	path            string // of its file
	line            int
	bad             error // why it cannot be used; told only to those who try
}

// open reads the files of the categories and picks questions, as vLLM picks them for the same seed. Each conversation
// is its messages, and overrides that offer the tools; its Text is what the last message says. The Python generator
// stays as it is unless prompts have to be repeated.
func (o bfcl) open(ctx context.Context, t Tools) (Flow, error) {
	text := t.Text()
	if text.Counter == nil {
		return Flow{}, noCounter("bfcl")
	}
	rows, err := o.rows(ctx, t.Hub())
	if err != nil {
		return Flow{}, err
	}
	shuffle(rows, o.Common, numpy.NewPython(o.Seed)) // a generator of its own
	return o.sample(ctx, rows, text, t.Streams().Python)
}

// rows are the questions of all categories, one of each in turn.
func (o bfcl) rows(ctx context.Context, h *hub.Hub) ([]bfclRow, error) {
	dir, err := o.directory()
	if err != nil {
		return nil, inFile("bfcl", o.Path, err)
	}
	lists := make([][]bfclRow, len(o.Categories))
	longest := 0
	for i, category := range o.Categories {
		path, err := o.file(ctx, h, dir, category)
		if err != nil {
			return nil, inFile("bfcl", o.Path, err)
		}
		if lists[i], err = textfile.Read(path, "a file of the leaderboard",
			func(r io.Reader) ([]bfclRow, error) { return readBFCL(r, path) }); err != nil {
			return nil, inFile("bfcl", path, err)
		}
		longest = max(longest, len(lists[i]))
	}
	var rows []bfclRow
	for i := range longest {
		for _, list := range lists {
			if i < len(list) {
				rows = append(rows, list[i])
			}
		}
	}
	return rows, nil
}

// readBFCL reads the category at path. Rows without messages or functions stay, for they count when rows are shuffled.
func readBFCL(r io.Reader, path string) ([]bfclRow, error) {
	return textfile.Rows(r, bfclForm, func(object []byte, line int) (bfclRow, error) {
		row := bfclRow{path: path, line: line}
		fields := jsonscan.Fields(object, "question", "function")
		if jsonscan.Depth(object) > maxDepth {
			row.bad = fmt.Errorf("more than %d objects and arrays stand inside each other", maxDepth)
		}
		if row.bad == nil {
			row.messages, row.bad = firstTurn(fields[0])
		}
		if row.bad == nil {
			row.tools, row.bad = tools(fields[1])
		}
		return row, nil
	})
}

// sample makes requests of the first rows that can be used and repeats some if there are too few.
func (o bfcl) sample(ctx context.Context, rows []bfclRow, text Text, py *numpy.Python) (Flow, error) {
	var turns []Turn
	total := 0
	for _, row := range rows {
		usable := row.messages != nil && row.tools != nil
		if usable {
			total++
		}
		if len(turns) == o.Prompts {
			continue
		}
		if row.bad != nil {
			return Flow{}, inFile("bfcl", row.path, textfile.AtLine(row.line, row.bad))
		}
		if usable {
			turns = append(turns, o.turn(row))
		}
	}
	if len(turns) == 0 {
		return Flow{}, inFile("bfcl", o.Path,
			fmt.Errorf("no question of %s has messages and functions", strings.Join(o.Categories, ", ")))
	}
	fallen, err := countChats(ctx, turns, text)
	if err != nil {
		return Flow{}, inDataset("bfcl", err)
	}
	kind := fmt.Sprintf("%d in %s (%s)", total, o.Path, strings.Join(o.Categories, ", "))
	if fallen > 0 {
		kind += fmt.Sprintf(", %d counted without chat template and tools", fallen)
	}
	list, err := o.list("bfcl", turns, o.Prompts, kind, py)
	return list, inDataset("bfcl", err)
}

func (o bfcl) turn(row bfclRow) Turn {
	said := contents(row.messages)
	return Turn{Text: said[len(said)-1], MaxTokens: o.OutputLen, Messages: row.messages,
		Overrides: fmt.Appendf(nil, `{"tools":%s,"tool_choice":"auto"}`, row.tools)}
}

// countChats sets the input tokens of turns that are messages and tools, as the chat template writes them. Where that
// fails, it counts what the messages say and returns for how many, as vLLM does with a warning.
func countChats(ctx context.Context, turns []Turn, text Text) (fallen int, err error) {
	prompts := make([]string, len(turns))
	var without atomic.Int64
	err = parallel.Each(ctx, atOnce, len(turns), func(i int) error {
		prompts[i] = strings.Join(contents(turns[i].Messages), "\n")
		if text.Template == nil {
			without.Add(1)
			return nil
		}
		var overrides struct{ Tools json.RawMessage }
		if err := json.Unmarshal(turns[i].Overrides, &overrides); err != nil {
			return err
		}
		rendered, err := text.Template.Render(ctx,
			chattemplate.Input{Messages: turns[i].Messages, Tools: overrides.Tools})
		if err != nil {
			without.Add(1)
			return ctx.Err()
		}
		prompts[i] = rendered
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(without.Load()), text.countTurns(ctx, turns, prompts)
}
