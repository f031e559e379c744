package preview

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"strings"

	"benchtop/datasets"
	"benchtop/datasets/textfile"
	"benchtop/datasets/trace"
	"benchtop/internal/jsonscan"
)

// form is what the rows of a file are, by the names of their columns.
type form struct {
	name    string   // for a person
	dataset string   // that sends such files, "" for none
	files   []string // ends of the names of files that it takes
	columns trace.Columns
	prompt  string // column of the prompt as text, token ids, messages or turns; "" where there are lengths alone
	others  string // column of the prompt of rows where that is empty, "" for none
	read    func(raw []byte) (prompt []Prompt, answer string, err error)
	answer  string // column of the answer as text, "" for none
	// sessions says that the rows are sessions of agents.
	sessions bool
}

// chatForms are the columns that hold chats and the like, the likelier first.
var chatForms = []form{
	{name: "conversations, the first question and answer of each", dataset: "sharegpt", files: []string{".json"},
		prompt: "conversations", read: conversation},
	{name: "conversations, the first question and answer of each", prompt: "conversation", read: conversation},
	{name: "questions, the first turn of each", dataset: "spec_bench", files: []string{".jsonl"}, prompt: "turns",
		read: firstTurn},
	{name: "chats", prompt: "chat_messages", others: "prompt", read: messages},
	{name: "chats", prompt: "messages", read: messages},
}

// prompted tells from the columns of a file which one has its prompts.
func prompted(names []string) (f form) {
	if i := slices.IndexFunc(chatForms, func(f form) bool { return slices.Contains(names, f.prompt) }); i >= 0 {
		f = chatForms[i]
		if !slices.Contains(names, f.others) {
			f.others = ""
		}
		return f
	}
	texts, answers := datasets.TextColumns()
	first := func(among []string) string {
		if i := slices.IndexFunc(among, func(name string) bool { return slices.Contains(names, name) }); i >= 0 {
			return among[i]
		}
		return ""
	}
	if f.prompt = first(texts); f.prompt == "" {
		return f
	}
	f.name, f.read, f.answer = "prompts", prompts, first(answers)
	if f.prompt == "prompt" {
		f.dataset, f.files = "custom", []string{".jsonl"}
	}
	return f
}

const expectedForms = `prompts ("prompt", "conversations", "turns" or "messages"), or lengths in tokens such as ` +
	`"input_length" and "output_length" with times such as "timestamp" (other names with --trace-columns)`

// formOf tells the form of a file from its columns.
func formOf(names []string, labels trace.Columns) (f form, err error) {
	if isSession(names) {
		return sessionForm, nil
	}
	f = prompted(names)
	if f.columns, err = labels.Complete(names); err != nil {
		return f, err
	}
	c := f.columns
	switch {
	case f.prompt != "" && c.Input != "":
		f.answer = ""
		f.name, f.dataset = "requests with their prompts", ""
	case f.prompt != "":
	case c.Input == "":
		return f, fmt.Errorf("the columns are %s; expected %s", textfile.Names(names), expectedForms)
	case c.HashIDs != "":
		f.name, f.dataset, f.files = "trace of lengths with the blocks of prompts", "timed_trace", []string{".jsonl"}
	case slices.Contains(names, "Model") && slices.Contains(names, "Log Type"):
		f.name, f.dataset, f.files = "BurstGPT trace of lengths", "trace", []string{".csv"}
	case c.Timestamp != "":
		f.name, f.dataset, f.files = "trace of lengths", "trace", []string{".csv", ".jsonl"}
	default:
		f.name = "lengths"
	}
	f.name += ": columns " + strings.Join(f.wanted(), ", ")
	return f, nil
}

// wanted are the columns that are read.
func (f *form) wanted() (names []string) {
	for _, name := range []string{f.columns.Timestamp, f.columns.Input, f.columns.Output, f.prompt, f.others, f.answer,
		f.columns.HashIDs} {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// conversation takes the first two turns.
func conversation(raw []byte) ([]Prompt, string, error) {
	if raw[0] != '[' {
		return nil, "", fmt.Errorf("expected an array of turns: got %s", jsonscan.Kind(raw))
	}
	var first [2]string
	n := 0
	for turn := range jsonscan.Elements(raw) {
		if turn[0] != '{' {
			return nil, "", fmt.Errorf("expected turns to be objects: got %s", jsonscan.Kind(turn))
		}
		fields := jsonscan.Fields(turn, "value", "content")
		if fields[0] == nil {
			fields[0] = fields[1]
		}
		value, err := jsonscan.WholeText(fields[0])
		if err != nil {
			return nil, "", fmt.Errorf(`turn %d, field "value" or "content": %w`, n+1, err)
		}
		if first[n] = value; n == 1 {
			return []Prompt{{Text: first[0]}}, first[1], nil
		}
		n++
	}
	return nil, "", nil // passed over, as by the data set
}

// firstTurn takes the first of several questions.
func firstTurn(raw []byte) ([]Prompt, string, error) {
	if raw[0] != '[' {
		return nil, "", fmt.Errorf("expected an array of turns: got %s", jsonscan.Kind(raw))
	}
	for turn := range jsonscan.Elements(raw) {
		s, err := jsonscan.WholeText(turn)
		return []Prompt{{Text: s}}, "", err
	}
	return nil, "", nil
}

// messages takes a chat up to the last message of the assistant, which is its answer.
func messages(raw []byte) ([]Prompt, string, error) {
	if raw[0] != '[' {
		return nil, "", fmt.Errorf("expected an array of messages: got %s", jsonscan.Kind(raw))
	}
	var all []string
	answered := false
	for message := range jsonscan.Elements(raw) {
		if message[0] != '{' {
			return nil, "", fmt.Errorf("expected messages to be objects: got %s", jsonscan.Kind(message))
		}
		fields := jsonscan.Fields(message, "role", "content")
		all = append(all, contentText(fields[1]))
		answered = jsonscan.IsString(fields[0]) && jsonscan.Text(fields[0]) == "assistant"
	}
	if len(all) == 0 {
		return nil, "", nil
	}
	if last := len(all) - 1; answered && last > 0 {
		return []Prompt{{Text: strings.Join(all[:last], "\n")}}, all[last], nil
	}
	return []Prompt{{Text: strings.Join(all, "\n")}}, "", nil
}

// contentText is the text of a message, without other parts.
func contentText(raw []byte) string {
	if jsonscan.IsString(raw) {
		return jsonscan.Text(raw)
	}
	var b strings.Builder
	if len(raw) > 0 && raw[0] == '[' {
		for part := range jsonscan.Elements(raw) {
			if part[0] != '{' {
				continue
			}
			if value := jsonscan.Fields(part, "text")[0]; jsonscan.IsString(value) {
				b.WriteString(jsonscan.Text(value))
			}
		}
	}
	return b.String()
}

// prompts takes a text, the ids of one, or a list of either.
func prompts(raw []byte) ([]Prompt, string, error) {
	if raw[0] != '[' {
		s, err := jsonscan.WholeText(raw)
		return []Prompt{{Text: s}}, "", err
	}
	var all []Prompt
	ids := []int{}
	for element := range jsonscan.Elements(raw) {
		switch jsonscan.Kind(element) {
		case "a number":
			id, err := trace.Length(element, 0)
			if err != nil {
				return nil, "", fmt.Errorf("a token id: %w", err)
			}
			ids = append(ids, id)
		case "an array", "a string":
			if len(all) > mostBatch {
				return nil, "", fmt.Errorf("more than %d prompts", mostBatch)
			}
			if jsonscan.Depth(element) > 1 {
				return nil, "", errors.New("expected a text, token ids, or a list of either: got lists in lists")
			}
			one, _, err := prompts(element)
			if err != nil {
				return nil, "", err
			}
			all = append(all, one...)
		default:
			return nil, "",
				fmt.Errorf("expected a text, token ids, or a list of either: got %s", jsonscan.Kind(element))
		}
	}
	switch {
	case len(all) == 0:
		all = []Prompt{{IDs: ids}}
	case len(ids) > 0:
		return nil, "", errors.New("expected a text, token ids, or a list of either: got several kinds")
	}
	return all, "", nil
}

// mostBatch bounds the prompts of a request.
const mostBatch = 1 << 16

// hashIDs names the blocks of an array of hash ids, at most so many.
func hashIDs(raw []byte, seed maphash.Seed, most int) ([]uint64, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if raw[0] != '[' {
		return nil, fmt.Errorf("expected an array of hash ids: got %s", jsonscan.Kind(raw))
	}
	blocks := []uint64{}
	for id := range jsonscan.Elements(raw) {
		if len(blocks) == most {
			break
		}
		if kind := jsonscan.Kind(id); kind != "a number" && kind != "a string" {
			return nil, fmt.Errorf("expected hash ids to be numbers or strings: got %s", kind)
		}
		blocks = append(blocks, maphash.Bytes(seed, id))
	}
	return blocks, nil
}

// blockSize finds how many tokens a hash id stands for from the lengths and numbers of hash ids of rows: the size by
// which most rows have as many ids as blocks, or whole blocks. The second result is whether it fits nearly all rows.
func blockSize(rows [][2]int) (size int, fits bool) {
	sizes := []int{16, 512} // the usual ones win where several fit
	least := 1
	for _, r := range rows {
		least = max(least, (r[0]+r[1]-1)/r[1])
	}
	for c := 1; c <= 1<<16; c *= 2 {
		sizes = append(sizes, c)
	}
	sizes = append(sizes, least)
	best := -1
	for _, c := range sizes {
		n := 0
		for _, r := range rows {
			if r[1] == (r[0]+c-1)/c || r[1] == r[0]/c {
				n++
			}
		}
		if n > best {
			size, best = c, n
		}
	}
	if 10*best < 9*len(rows) {
		return 1 << bits.Len(uint(min(least, math.MaxInt32)-1)), false
	}
	return size, true
}
