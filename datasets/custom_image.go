package datasets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"benchtop/datasets/numpy"
)

// CustomImageOptions says what to take from a file of prompts with images in JSON lines.
type CustomImageOptions struct {
	Common // its Path is a .jsonl file

	OutputLen int `json:"output_len"` // tokens; 0 lets the server decide
	// ClientSideData loads images named by an address or a path here, and sends what they show instead of their name.
	ClientSideData bool `json:"ensure_client_side_data"`
}

// CustomImageDefaults are vLLM's: 1000 prompts, 256 tokens out. The path is left to be filled in.
func CustomImageDefaults() CustomImageOptions {
	return CustomImageOptions{Common: Common{Prompts: 1000}, OutputLen: 256}
}

// Validate reports every problem with the options, without looking at the file.
func (o CustomImageOptions) Validate() error {
	p := &problems{}
	p.jsonLines(o.Path)
	if o.OutputLen < 0 {
		p.add("output length %d must not be negative: this data set takes none from its file", o.OutputLen)
	}
	return p.of("custom_image")
}

type customImageKind struct {
	*customFlags
	clientSideData bool
}

func (k *customImageKind) Name() string { return "custom_image" }

func (k *customImageKind) Define(group func(string) Flags) {
	group(filesHeading).BoolVar(&k.clientSideData, "custom-ensure-client-side-data", false, "custom_image: load the images here and send them along")
}

func (k *customImageKind) Needs(c Common) Needs {
	return Needs{File: RequiredFile, Forms: AsMessages, Why: imagesInMessages, Ends: true, AllRows: true, Counts: true,
		OutputLen: max(0, c.outputLen(k.outputLen))}
}

func (k *customImageKind) options(c Common) CustomImageOptions {
	return CustomImageOptions{Common: c, OutputLen: c.outputLen(k.outputLen), ClientSideData: k.clientSideData}
}

func (k *customImageKind) Validate(c Common) error { return k.options(c).Validate() }

func (k *customImageKind) Open(ctx context.Context, c Common, t Tools) (Source, error) {
	return NewCustomImage(ctx, k.options(c), t.Text(), t.Streams())
}

const customImageForm = `{"prompt": "text", "image_files": ["path or URL"]} or {"content": [{"type": "text", "text": "…"}, {"type": "image", "image": "path or URL"}]}`

// imageRow is a line of the file: the values of its fields, nil where it has none.
type imageRow struct {
	prompt, files, content json.RawMessage
	line                   int
}

// NewCustomImage reads the file and picks the prompts, as vLLM picks them for the same seed. Images are named in the
// requests, or loaded here and sent as they are, according to o. Without a counter every prompt is taken for one token. It
// leaves the Python generator of s as vLLM's client would, and does not touch the other.
func NewCustomImage(ctx context.Context, o CustomImageOptions, text Text, s *numpy.Streams) (*List, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	list, err := o.draw(ctx, text, s.Python)
	if err != nil {
		return nil, inFile("custom_image", o.Path, err)
	}
	return list, nil
}

func (o CustomImageOptions) draw(ctx context.Context, text Text, py *numpy.Python) (*List, error) {
	file, err := openFile(o.Path, "a file with an object on each line")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := readImageRows(file)
	if err != nil {
		return nil, cause(err)
	}
	picked, want := pick(rows, o.Prompts, o.Seed, o.DisableShuffle, py)
	turns, err := o.turns(ctx, picked, text)
	if err != nil {
		return nil, err
	}
	kind := fmt.Sprintf("%d with images in %s", len(rows), o.Path)
	return sampling{want, o.NoOversample, o.Seed, o.IDPrefix}.list("custom_image", turns, kind, py)
}

func readImageRows(r io.Reader) ([]imageRow, error) {
	var rows []imageRow
	err := eachObject(r, customImageForm, func(object []byte, line int) error {
		row := imageRow{line: line}
		for key, value := range members(object) {
			switch key {
			case "prompt":
				row.prompt = slices.Clone(value)
			case "image_files":
				row.files = slices.Clone(value)
			case "content":
				row.content = slices.Clone(value)
			}
		}
		switch {
		case string(row.content) != "null" && row.content != nil:
			row.prompt, row.files = nil, nil // the content wins
		case row.prompt == nil || row.files == nil:
			return fmt.Errorf(`either "prompt" and "image_files" or "content" must be there; expected %s`, customImageForm)
		default:
			row.content = nil
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// turns makes the requests of the rows picked. Where images are to be sent, it first gathers their sources, loads each
// once, and puts what they show into their place.
func (o CustomImageOptions) turns(ctx context.Context, rows []imageRow, text Text) ([]Turn, error) {
	var sources []imageSource
	turns, err := o.build(rows, func(line int, source string) string {
		sources = append(sources, imageSource{source, line})
		return imageURL(source)
	})
	if err == nil && o.ClientSideData {
		var data map[string]string
		if data, err = loadImages(ctx, sources); err != nil {
			return nil, err
		}
		turns, err = o.build(rows, func(_ int, source string) string { return data[source] })
	}
	if err != nil {
		return nil, err
	}
	return turns, countTurns(ctx, turns, text)
}

// countTurns sets the input tokens of the turns.
func countTurns(ctx context.Context, turns []Turn, text Text) error {
	prompts := make([]string, len(turns))
	for i := range turns {
		prompts[i] = turns[i].Text
		turns[i].InputTokens = 1
	}
	if text.Counter == nil {
		return nil
	}
	counts, err := text.count(ctx, prompts)
	if err != nil {
		return fmt.Errorf("counting tokens: %w", err)
	}
	for i, n := range counts {
		turns[i].InputTokens = n
	}
	return nil
}

// build makes a turn of each row; address gives what a request says of an image that a line names.
func (o CustomImageOptions) build(rows []imageRow, address func(line int, source string) string) ([]Turn, error) {
	turns := make([]Turn, len(rows))
	for i, row := range rows {
		turn, err := row.turn(func(source string) string { return address(row.line, source) })
		if err != nil {
			return nil, &lineError{row.line, err}
		}
		turn.MaxTokens = o.OutputLen
		if o.MultimodalChat && turn.Messages == nil {
			turn.Messages = chatMessages(turn.Text, turn.Media)
		}
		turns[i] = turn
	}
	return turns, nil
}

func (r imageRow) turn(address func(string) string) (Turn, error) {
	if r.content != nil {
		parts, text, err := contentParts(r.content, address)
		if err != nil {
			return Turn{}, err
		}
		// A chat back end makes one user message of a list of parts, whether or not it is asked for chat messages.
		message := fmt.Sprintf(`[{"role":"user","content":[%s]}]`, parts)
		return Turn{Text: text, Messages: json.RawMessage(message)}, nil
	}
	if r.prompt[0] != '"' {
		return Turn{}, fmt.Errorf(`expected "prompt" to be a string: got %s`, jsonKind(r.prompt))
	}
	text, err := wholeText(r.prompt)
	if err != nil {
		return Turn{}, err
	}
	media, err := imageFiles(r.files, address)
	return Turn{Text: text, Media: media}, err
}

// imageFiles makes content parts of a list of sources.
func imageFiles(files json.RawMessage, address func(string) string) (json.RawMessage, error) {
	if files[0] != '[' {
		return nil, fmt.Errorf(`expected "image_files" to be an array: got %s`, jsonKind(files))
	}
	var media []byte
	for file := range elements(files) {
		source, err := mediaSource("image_files", file)
		if err != nil {
			return nil, err
		}
		media = appendPart(media, urlPart("image", address(source)))
	}
	if media == nil {
		return nil, errors.New(`"image_files" is empty; name at least one image`)
	}
	return media, nil
}

// appendPart appends a part to others, with a comma between them.
func appendPart(parts []byte, part []byte) []byte {
	if len(parts) > 0 {
		parts = append(parts, ',')
	}
	return append(parts, part...)
}

// contentParts turns a line's "content" into the content parts of a chat message, separated by commas, and also returns
// the text in them, without anything between. address gives what a request says of an image's source.
func contentParts(content json.RawMessage, address func(source string) string) (parts []byte, text string, err error) {
	if content[0] != '[' {
		return nil, "", fmt.Errorf(`expected "content" to be an array: got %s`, jsonKind(content))
	}
	var all strings.Builder
	number := 0
	for raw := range elements(content) {
		number++
		part, said, err := contentPart(raw, address)
		if err != nil {
			return nil, "", fmt.Errorf(`part %d of "content": %w`, number, err)
		}
		all.WriteString(said)
		parts = appendPart(parts, part)
	}
	if number == 0 {
		return nil, "", errors.New(`"content" is empty; give it at least one part`)
	}
	return parts, all.String(), nil
}

func contentPart(raw []byte, address func(string) string) (part []byte, text string, err error) {
	if raw[0] != '{' {
		return nil, "", fmt.Errorf("expected an object: got %s", jsonKind(raw))
	}
	fields := map[string][]byte{}
	for key, value := range members(raw) {
		fields[key] = value
	}
	kind := ""
	if t := fields["type"]; len(t) > 0 && t[0] == '"' {
		kind = unquote(t)
	}
	switch kind {
	case "text":
		t := fields["text"]
		if len(t) == 0 || t[0] != '"' {
			return nil, "", fmt.Errorf(`expected "text" to be a string: got %s`, jsonKind(t))
		}
		text, err := wholeText(t)
		if err != nil {
			return nil, "", err
		}
		return fmt.Appendf(nil, `{"type":"text","text":%s}`, quoteJSON(text)), text, nil
	case "image":
		source, err := mediaSource("image", fields["image"])
		if err != nil {
			return nil, "", err
		}
		return urlPart("image", address(source)), "", nil
	case "image_url":
		part, err := imageURLPart(fields["image_url"], address)
		return part, "", err
	}
	return nil, "", fmt.Errorf(`expected "type" to be text, image or image_url: got %s`, shortened(cmp.Or(string(fields["type"]), "nothing")))
}

// imageURLPart keeps what else an object says beside the address, such as the detail wanted.
func imageURLPart(raw []byte, address func(string) string) ([]byte, error) {
	if len(raw) == 0 || raw[0] != '{' {
		source, err := mediaSource("image_url", raw)
		if err != nil {
			return nil, err
		}
		return urlPart("image", address(source)), nil
	}
	var object []byte
	found := false
	for _, m := range orderedMembers(raw) {
		value := m.value
		if m.key == "url" {
			source, err := mediaSource("url", value)
			if err != nil {
				return nil, err
			}
			found = true
			value = quoteJSON(address(source))
		}
		object = appendPart(object, fmt.Appendf(nil, "%s:%s", quoteJSON(m.key), value))
	}
	if !found {
		return nil, errors.New(`"image_url" has no "url"`)
	}
	return fmt.Appendf(nil, `{"type":"image_url","image_url":{%s}}`, object), nil
}
