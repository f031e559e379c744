package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/chattemplate"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/jsonscan"
	"benchtop/internal/parallel"
)

// hfHub has the files of data sets; *hub.Hub is one.
type hfHub interface {
	Select(ctx context.Context, s hub.Selection) ([]hub.Shard, error)
	Beside(ctx context.Context, s hub.Selection, name string) (path string, err error)
	Report(line string)
}

// hfSampler draws prompts from the rows of a data set:
//
//	order of rows ──▶ a window of them, read file by file ──▶ prompts, in their order ──▶ rendered, counted, chosen
type hfSampler struct {
	Common
	class  *hfClass
	flags  *hfFlags
	length int    // output length that a flag gives for all; 0 for none
	id     string // of the data set on the hub
	from   hub.Selection
	hub    hfHub
	text   Text

	pieces []hfPiece
	named  []string // columns, where the layout was detected
	tables hfTables
	looked int // rows
	drawn  []Conversation
	sound  time.Duration // of recordings
	held   atomic.Int64  // bytes of recordings
	told   time.Time     // of the last progress
}

// draw makes the data set.
func (d *hfSampler) draw(ctx context.Context, py *numpy.Python, note func(string)) (Flow, error) {
	defer d.tables.close()
	d.told = time.Now()
	d.tables.opening = func(shard int) { d.tell("reading file %d of %d", shard+1, len(d.tables.shards)) }
	var err error
	if d.tables.shards, err = d.hub.Select(ctx, d.from); err != nil {
		return Flow{}, err
	}
	if err := hub.Complete(d.tables.shards); err != nil && d.tables.shards[0].Name != d.from.Path {
		note(err.Error() + "; with the others the prompts are different")
	}
	if d.class == nil {
		row, err := d.first(ctx)
		if err != nil {
			return Flow{}, err
		}
		if err := d.detect(row, note); err != nil {
			return Flow{}, textfile.At(d.from.Path, err)
		}
	}
	if d.class.template == alwaysRendered {
		d.SkipChatTemplate = false
	} else if d.class.template == neverRendered {
		d.SkipChatTemplate = true
	}
	if !d.SkipChatTemplate && d.text.Template == nil {
		way := ", or --skip-chat-template to send the prompts as they are"
		if d.class.template == alwaysRendered {
			way = ""
		}
		return Flow{}, noTemplate("hf", way)
	}
	if err := d.sample(ctx); err != nil {
		return Flow{}, err
	}
	return d.list(py)
}

// list is the data set of the prompts that were drawn.
func (d *hfSampler) list(py *numpy.Python) (Flow, error) {
	if len(d.drawn) == 0 {
		return Flow{}, textfile.At(d.from.Path, d.nothing())
	}
	kind := d.class.name + " in " + d.from.Path
	if d.class.medium == withRecording {
		kind = fmt.Sprintf("%s with recordings of %.1f s on average in %s", d.class.name,
			(d.sound / time.Duration(len(d.drawn))).Seconds(), d.from.Path)
	}
	list, err := d.listed("hf", d.drawn, d.Prompts, kind, py)
	return list, within(d.from.Path, err)
}

// nothing says why there is no prompt.
func (d *hfSampler) nothing() error {
	switch {
	case d.looked == 0:
		return errors.New("no rows")
	case d.class.medium == withRecording:
		lasts := fmt.Sprintf("%g s or more", d.flags.minSeconds)
		if most := d.flags.maxSeconds; most > 0 && !math.IsInf(most, 1) {
			lasts = fmt.Sprintf("between %g and %g s", d.flags.minSeconds, most)
		}
		return fmt.Errorf("none of the %d recordings lasts %s; see --asr-min-audio-len-sec and --asr-max-audio-len-sec",
			d.looked, lasts)
	case d.class.limits.most > 0:
		return fmt.Errorf("none of the %d rows is of a length to be taken (%s)", d.looked, d.class.limits)
	}
	return fmt.Errorf("none of the %d rows is between --blazedit-min-distance %g and --blazedit-max-distance %g",
		d.looked, d.flags.minDistance, d.flags.maxDistance)
}

// order is the order of the rows.
func (d *hfSampler) order(ctx context.Context) (iter.Seq2[hfRow, error], error) {
	o := hfOrder{len(d.tables.shards), func(shard int) (int, error) { return d.tables.length(ctx, shard) }}
	switch {
	case d.DisableShuffle:
		return o.inFile(), nil
	case d.flags.noStream || d.class.whole:
		return o.whole(uint64(d.Seed)), nil
	}
	stream, _ := hfStreamOf(d.flags.version) // Validate has checked it
	if stream.batch > 1 && len(d.tables.shards) > 1 {
		array, err := d.tables.array(ctx)
		if err != nil {
			return nil, err
		}
		if array { // its rows come one by one in the library, too
			stream.batch = 1
		}
	}
	return o.streamed(uint64(d.Seed), stream), nil
}

// Sizes of a window of rows.
const (
	hfWindow   = 256  // at least, once rows turn out to be left out
	hfMostRows = 4096 // at most
)

// window is how many rows are read next. The first rows are as many as are wanted, so that no file is opened in vain.
func (d *hfSampler) window() int {
	n := d.Prompts - len(d.drawn)
	if d.looked > 0 {
		n = max(n, hfWindow)
	}
	return min(n, hfMostRows)
}

// sample draws as many prompts as are wanted and there.
func (d *hfSampler) sample(ctx context.Context) error {
	window := make([]hfPrompt, 0, d.window())
	order, err := d.order(ctx)
	if err != nil {
		return err
	}
	for row, err := range order {
		if err != nil {
			return err
		}
		window = append(window, hfPrompt{at: row, number: d.looked + len(window)})
		if len(window) < d.window() {
			continue
		}
		if err := d.take(ctx, window); err != nil {
			return err
		}
		if len(d.drawn) == d.Prompts {
			return nil
		}
		window = window[:0]
	}
	return d.take(ctx, window)
}

// take reads the window's rows and draws prompts from them until there are enough.
func (d *hfSampler) take(ctx context.Context, window []hfPrompt) error {
	rows := make([]hfRow, len(window))
	for i := range window {
		rows[i] = window[i].at
	}
	read := 0
	err := d.tables.rows(ctx, rows, d.columns(), func(i int, object []byte) error {
		window[i].bad = window[i].read(object, d)
		read++
		d.tellRows(read)
		return nil
	})
	d.looked += len(window)
	for err == nil && len(window) > 0 && len(d.drawn) < d.Prompts {
		// At most as many as are still wanted: all of these would be looked at one by one as well.
		n := min(len(window), d.Prompts-len(d.drawn))
		err = d.accept(ctx, window[:n])
		window = window[n:]
	}
	return err
}

// tell reports the progress, once a second.
func (d *hfSampler) tell(format string, args ...any) {
	if now := time.Now(); now.Sub(d.told) > time.Second {
		d.told = now
		d.hub.Report(d.from.Path + ": " + fmt.Sprintf(format, args...))
	}
}

// tellRows is tell for rows of a window that were read.
func (d *hfSampler) tellRows(read int) {
	d.tell("%d of %d prompts drawn, %d rows read", len(d.drawn), d.Prompts, d.looked+read)
}

// column is the one that a path begins with.
func (d *hfSampler) column(path string) string {
	if slices.Contains(d.named, path) {
		return path
	}
	name, _ := hfColumn(path)
	return name
}

// columns are those that the texts are in; false marks one that may be missing.
func (d *hfSampler) columns() map[string]bool {
	columns := map[string]bool{}
	need := func(path string, required bool) {
		if path != "" {
			columns[d.column(path)] = required
		}
	}
	for _, piece := range d.pieces {
		need(piece.path, true)
	}
	need(d.class.system, true)
	need(d.class.schema, true)
	if d.length == 0 {
		need(d.class.answer, !d.class.loose)
	}
	need(d.class.filter, true)
	return columns
}

// accept makes requests of the rows that are of the right lengths.
func (d *hfSampler) accept(ctx context.Context, rows []hfPrompt) error {
	for i := range rows {
		if rows[i].bad != nil {
			return d.located(ctx, rows[i], rows[i].bad)
		}
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(p hfPrompt) bool { return p.out })
	rows, recordings, err := d.recordings(ctx, rows)
	if err != nil {
		return err
	}
	prompts, err := d.render(ctx, rows)
	if err != nil {
		return err
	}
	inputs, outputs, err := d.count(ctx, rows, prompts)
	if err != nil {
		return err
	}
	var taken []hfPrompt
	from := len(d.drawn)
	for i, p := range rows {
		if outputs[i] == 0 && !d.class.limits.always {
			return d.located(ctx, p, d.noLength())
		}
		if !d.class.limits.fit(inputs[i], outputs[i], d.length > 0) {
			continue
		}
		number := p.number
		if d.class.accepted {
			number = len(d.drawn)
		}
		turn := Turn{Text: prompts[i], InputTokens: inputs[i], MaxTokens: outputs[i], Judge: p.judge}
		if p.judge != nil {
			turn.AddField("structured_outputs", `{"json": `+string(jsonscan.Quote(p.schema))+"}")
		}
		if recordings != nil {
			d.attach(&turn, recordings[i])
		}
		d.drawn = append(d.drawn, Conversation{ID: d.IDPrefix + strconv.Itoa(number), Turns: []Turn{turn}})
		taken = append(taken, p)
	}
	return d.complete(ctx, taken, d.drawn[from:])
}

// noLength is the error of an answer without tokens.
func (d *hfSampler) noLength() error {
	way := "give one with --hf-output-len"
	if d.class.own {
		way = "take the row out of a copy of the data set"
	}
	return fmt.Errorf("%s has no tokens, so there is no output length; %s", textfile.Quote(d.class.answer), way)
}

// located says where a row stands that an error is about.
func (d *hfSampler) located(ctx context.Context, p hfPrompt, cause error) error {
	err := d.tables.rows(ctx, []hfRow{p.at}, d.columns(), func(int, []byte) error { return cause })
	if err == nil {
		err = cause
	}
	return err
}

// render are the prompts as a model reads them.
func (d *hfSampler) render(ctx context.Context, rows []hfPrompt) ([]string, error) {
	prompts := make([]string, len(rows))
	for i, p := range rows {
		prompts[i] = p.text
	}
	if d.SkipChatTemplate {
		return prompts, nil
	}
	err := parallel.Each(ctx, atOnce, len(rows), func(i int) (err error) {
		messages := userMessage(rows[i].text)
		if d.class.system != "" {
			messages = fmt.Appendf(nil, `[{"role":"system","content":%s},%s`, jsonscan.Quote(rows[i].system),
				messages[1:])
		}
		prompts[i], err = d.text.Template.Render(ctx, chattemplate.Input{Messages: messages})
		if err != nil {
			err = &rowError{i, fmt.Errorf("rendering the chat template: %w", err)}
		}
		return err
	})
	return prompts, d.atRow(ctx, rows, err)
}

// rowError is an error of one of several rows.
type rowError struct {
	row int
	err error
}

func (e *rowError) Error() string { return e.err.Error() }
func (e *rowError) Unwrap() error { return e.err }

// atRow says where the row stands that an error is about.
func (d *hfSampler) atRow(ctx context.Context, rows []hfPrompt, err error) error {
	if of, ok := errors.AsType[*rowError](err); ok && ctx.Err() == nil {
		return d.located(ctx, rows[of.row], of.err)
	}
	return err
}

// count returns the tokens of the prompts, and those of the answers or the length that all have.
func (d *hfSampler) count(ctx context.Context, rows []hfPrompt, prompts []string) (inputs, outputs []int, err error) {
	if d.class.medium == withRecording { // all prompts are the same
		inputs, err = d.text.count(ctx, prompts[:min(1, len(prompts))])
		if err == nil && len(prompts) > 0 {
			inputs = slices.Repeat(inputs, len(prompts))
		}
	} else {
		inputs, err = d.text.count(ctx, prompts)
	}
	if err != nil {
		return nil, nil, err
	}
	if d.length > 0 || d.class.answer == "" {
		length := cmp.Or(d.length, d.class.output)
		return inputs, slices.Repeat([]int{length}, len(rows)), nil
	}
	answers := make([]string, len(rows))
	for i, p := range rows {
		answers[i] = p.answer
	}
	counter := d.text
	if d.class.system != "" {
		counter = d.text.withoutSpecial()
	}
	outputs, err = counter.count(ctx, answers)
	for i, n := range outputs {
		if n == 0 {
			outputs[i] = d.class.output
		}
	}
	return inputs, outputs, err
}
