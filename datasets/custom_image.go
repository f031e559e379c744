package datasets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/media"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/jsonscan"
	"benchtop/internal/parallel"
)

// customImage selects prompts from a file of prompts with images in JSON lines, whose name ends in .jsonl. An output
// length of 0 lets the server decide.
type customImage struct {
	custom
	// ClientSideData loads images named by an address or a path here, and sends what they show instead of their name.
	ClientSideData bool
}

func (o customImage) check() error {
	p := &problems{}
	p.jsonLines(o.Path)
	if n := o.length(); n < 0 {
		p.add("output length %d must not be negative: this data set takes none from its file", n)
	}
	return p.of("custom_image")
}

func (o *customImage) Define(group func(string) Flags) {
	group(filesHeading).BoolVar(&o.ClientSideData, "custom-ensure-client-side-data", false,
		"custom_image: load the images on the client and send their data")
}

func (o customImage) needs() Needs {
	return Needs{File: RequiredFile, Forms: o.mediaForm(), Why: imagesInMessages, Ends: true, AllRows: true,
		Counts:    true,
		OutputLen: max(0, o.length())}
}

const imagesInMessages = "images travel in chat messages"

const customImageForm = `{"prompt": "text", "image_files": ["path or URL"]} or {"content": [{"type": "text", "text": ` +
	`"…"}, {"type": "image", "image": "path or URL"}]}`

// imageRow is a line of the file: the values of its fields, nil where it has none.
type imageRow struct {
	prompt, files, content json.RawMessage
	line                   int
}

// open reads the file and picks the prompts, as vLLM picks them for the same seed. Images are named in the requests, or
// loaded here and sent as they are. Without a counter every prompt is taken for one token. It does not touch the legacy
// generator.
func (o customImage) open(ctx context.Context, t Tools) (Flow, error) {
	list, err := o.draw(ctx, t.Text(), t.Streams().Python)
	return list, inFile("custom_image", o.Path, err)
}

func (o customImage) draw(ctx context.Context, text Text, py *numpy.Python) (Flow, error) {
	rows, err := textfile.Read(o.Path, "a file with an object on each line", readImageRows)
	if err != nil {
		return Flow{}, err
	}
	picked, want := pick(rows, o.Common, py)
	turns, err := o.turns(ctx, picked, text)
	if err != nil {
		return Flow{}, err
	}
	return o.list("custom_image", turns, want, fmt.Sprintf("%d with images in %s", len(rows), o.Path), py)
}

func readImageRows(r io.Reader) ([]imageRow, error) {
	return textfile.Rows(r, customImageForm, func(object []byte, line int) (row imageRow, err error) {
		fields := jsonscan.Fields(object, "prompt", "image_files", "content")
		row.line = line
		switch {
		case fields[2] != nil && string(fields[2]) != "null":
			row.content = slices.Clone(fields[2]) // the rest does not count
		case fields[0] == nil || fields[1] == nil:
			err = fmt.Errorf(`either "prompt" and "image_files" or "content" must be there; expected %s`,
				customImageForm)
		default:
			row.prompt, row.files = slices.Clone(fields[0]), slices.Clone(fields[1])
		}
		return row, err
	})
}

// turns makes the requests of the rows picked. Where images are to be sent, it first gathers their sources, loads each
// once, and puts what they show into their place.
func (o customImage) turns(ctx context.Context, rows []imageRow, text Text) ([]Turn, error) {
	var sources []imageSource
	turns, err := o.build(rows, func(line int, source string) string {
		sources = append(sources, imageSource{source, line})
		return media.ImageURL(source)
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
	return turns, text.countTexts(ctx, turns)
}

// imageSource is an address or a path of an image, and the line of the file that names it.
type imageSource struct {
	name string
	line int
}

// imageFetchLimit bounds the time in which an address gives an image.
const imageFetchLimit = time.Minute

// loadImages returns, for the name of each source, an address that holds the image itself, as a PNG without
// transparency. A name that is such an address already stays as it is. Each is loaded once, several at the same time.
func loadImages(ctx context.Context, sources []imageSource) (map[string]string, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: imageFetchLimit}
	loaded := map[string]string{}
	var distinct []imageSource
	for _, source := range sources {
		if _, seen := loaded[source.name]; !seen {
			loaded[source.name] = ""
			distinct = append(distinct, source)
		}
	}
	addresses := make([]string, len(distinct))
	err := parallel.Each(ctx, atOnce, len(distinct), func(i int) (err error) {
		if addresses[i], err = loadImage(ctx, client, distinct[i].name); err != nil {
			return textfile.AtLine(distinct[i].line, err)
		}
		return nil
	})
	for i, source := range distinct {
		loaded[source.name] = addresses[i]
	}
	return loaded, err
}

func loadImage(ctx context.Context, client *http.Client, source string) (string, error) {
	if strings.HasPrefix(source, "data:image/") {
		return source, nil
	}
	data, err := media.Load(ctx, client, source)
	if err != nil {
		return "", fmt.Errorf("image %s cannot be loaded: %w", shortened(source), textfile.Cause(err))
	}
	address, err := media.PNG(data)
	if err != nil {
		return "", fmt.Errorf("image %s: %w", shortened(source), err)
	}
	return address, nil
}

// build makes a turn of each row, of one token; address gives the address in the request of an image that a line names.
func (o customImage) build(rows []imageRow, address func(line int, source string) string) ([]Turn, error) {
	turns := make([]Turn, len(rows))
	for i, row := range rows {
		turn, err := row.turn(func(source string) string { return address(row.line, source) })
		if err != nil {
			return nil, textfile.AtLine(row.line, err)
		}
		turn.InputTokens, turn.MaxTokens = 1, o.length()
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
		// A chat back end makes one user message of a list of parts, whether or not it is asked for chat messages.
		return Turn{Text: text, Messages: fmt.Appendf(nil, `[{"role":"user","content":[%s]}]`, parts)}, err
	}
	if !jsonscan.IsString(r.prompt) {
		return Turn{}, fmt.Errorf(`expected "prompt" to be a string: got %s`, jsonscan.Kind(r.prompt))
	}
	text, err := jsonscan.WholeText(r.prompt)
	if err != nil {
		return Turn{}, err
	}
	media, err := imageFiles(r.files, address)
	return Turn{Text: text, Media: media}, err
}

// imageFiles makes content parts of a list of sources.
func imageFiles(files json.RawMessage, address func(string) string) (json.RawMessage, error) {
	if files[0] != '[' {
		return nil, fmt.Errorf(`expected "image_files" to be an array: got %s`, jsonscan.Kind(files))
	}
	var parts []byte
	for file := range jsonscan.Elements(files) {
		source, err := media.Source("image_files", file)
		if err != nil {
			return nil, err
		}
		parts = media.AppendPart(parts, media.URLPart("image", address(source)))
	}
	if parts == nil {
		return nil, errors.New(`"image_files" is empty; name at least one image`)
	}
	return parts, nil
}

// contentParts turns a line's "content" into the content parts of a chat message, separated by commas, and also returns
// the text in them, without anything between. address gives the address in the request of an image's source.
func contentParts(content json.RawMessage, address func(source string) string) (parts []byte, text string, err error) {
	if content[0] != '[' {
		return nil, "", fmt.Errorf(`expected "content" to be an array: got %s`, jsonscan.Kind(content))
	}
	number := 0
	for raw := range jsonscan.Elements(content) {
		number++
		part, said, err := contentPart(raw, address)
		if err != nil {
			return nil, "", fmt.Errorf(`part %d of "content": %w`, number, err)
		}
		text += said
		parts = media.AppendPart(parts, part)
	}
	if number == 0 {
		return nil, "", errors.New(`"content" is empty; give it at least one part`)
	}
	return parts, text, nil
}

func contentPart(raw []byte, address func(string) string) (part []byte, text string, err error) {
	if raw[0] != '{' {
		return nil, "", fmt.Errorf("expected an object: got %s", jsonscan.Kind(raw))
	}
	fields := jsonscan.Fields(raw, "type", "text", "image", "image_url")
	kind := ""
	if jsonscan.IsString(fields[0]) {
		kind = jsonscan.Text(fields[0])
	}
	switch kind {
	case "text":
		if !jsonscan.IsString(fields[1]) {
			return nil, "", fmt.Errorf(`expected "text" to be a string: got %s`, jsonscan.Kind(fields[1]))
		}
		text, err := jsonscan.WholeText(fields[1])
		return fmt.Appendf(nil, `{"type":"text","text":%s}`, jsonscan.Quote(text)), text, err
	case "image":
		source, err := media.Source("image", fields[2])
		return media.URLPart("image", address(source)), "", err
	case "image_url":
		part, err := imageURLPart(fields[3], address)
		return part, "", err
	}
	return nil, "", fmt.Errorf(`expected "type" to be text, image or image_url: got %s`,
		shortened(cmp.Or(string(fields[0]), "nothing")))
}

// imageURLPart keeps the members of an object beside the address, such as the detail wanted.
func imageURLPart(raw []byte, address func(string) string) ([]byte, error) {
	if len(raw) == 0 || raw[0] != '{' {
		source, err := media.Source("image_url", raw)
		return media.URLPart("image", address(source)), err
	}
	var object []byte
	found := false
	for _, m := range jsonscan.Dict(raw) {
		value := m.Value
		if m.Name == "url" {
			source, err := media.Source("url", value)
			if err != nil {
				return nil, err
			}
			found, value = true, jsonscan.Quote(address(source))
		}
		object = media.AppendPart(object, fmt.Appendf(nil, "%s:%s", jsonscan.Quote(m.Name), value))
	}
	if !found {
		return nil, errors.New(`"image_url" has no "url"`)
	}
	return fmt.Appendf(nil, `{"type":"image_url","image_url":{%s}}`, object), nil
}
