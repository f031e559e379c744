package datasets

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"benchtop/datasets/jsonscan"
	"benchtop/datasets/media"
	"benchtop/datasets/parallel"
	"benchtop/datasets/textfile"
)

// complete puts the pictures or videos of the rows into their requests, and these into messages if that is wanted.
func (d *hfDrawing) complete(ctx context.Context, rows []hfPrompt, requests []Conversation) error {
	visible := d.class.medium == withPicture || d.class.medium == withVideo
	if !visible && !d.class.chat {
		return nil
	}
	return d.atRow(ctx, rows, parallel.Each(ctx, runtime.GOMAXPROCS(0), len(rows), func(i int) error {
		turn := &requests[i].Turns[0]
		part, err := d.part(ctx, rows[i].media)
		if err != nil {
			return &rowError{i, within(quoteCell(d.class.media), err)}
		}
		rows[i].media = nil
		if d.asMessages() {
			turn.Messages = chatMessages(turn.Text, part)
		} else {
			turn.Media = part
		}
		return nil
	}))
}

// part is the content part of a picture or a video; nil for none.
func (d *hfDrawing) part(ctx context.Context, value []byte) (json.RawMessage, error) {
	switch {
	case value == nil:
		return nil, nil
	case d.class.medium == withVideo:
		return d.video(ctx, value)
	case value[0] != '{':
		return media.Image(value)
	}
	data, path, err := stored(value)
	if err == nil && data == nil {
		if path, err = d.find(ctx, path); err == nil {
			data, err = media.Load(ctx, nil, path)
		}
	}
	if err != nil {
		return nil, textfile.Cause(err)
	}
	return media.ImagePart(data)
}

// video is the part of a video, which is named in the repository by its address on the hub and is a file here.
func (d *hfDrawing) video(ctx context.Context, value []byte) (json.RawMessage, error) {
	address, err := media.Source("video", value)
	if err != nil {
		return nil, err
	}
	name, inside := strings.CutPrefix(address, "https://huggingface.co/datasets/"+d.id+"/resolve/main/")
	if !inside {
		return media.Video(value)
	}
	path, err := d.hub.Beside(ctx, d.from, name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	return media.Video(jsonscan.Quote(path))
}

// stored is a file in a row, as the hub's tables have pictures and recordings: its content, or where that is null its path.
func stored(value []byte) (data []byte, path string, err error) {
	fields := jsonscan.Fields(value, "bytes", "path")
	if jsonscan.IsString(fields[0]) {
		data, err = base64.StdEncoding.DecodeString(jsonscan.Text(fields[0]))
		if err == nil && len(data) == 0 {
			err = errors.New("the file is empty")
		}
	}
	if jsonscan.IsString(fields[1]) {
		path = jsonscan.Text(fields[1])
	}
	if data == nil && path == "" && err == nil {
		err = fmt.Errorf(`expected "bytes" or a "path": got %s`, firstOf(value))
	}
	return data, path, err
}

// find is where a file lies that a row names: here, or in the repository.
func (d *hfDrawing) find(ctx context.Context, path string) (string, error) {
	if info, err := os.Stat(path); filepath.IsAbs(path) || err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	return d.hub.Beside(ctx, d.from, path)
}

// recordings loads those of the rows and leaves out rows whose recordings are too short or too long; nil where the rows have none.
func (d *hfDrawing) recordings(ctx context.Context, rows *[]hfPrompt) ([]*media.Audio, error) {
	if d.class.medium != withRecording {
		return nil, nil
	}
	all := make([]*media.Audio, len(*rows))
	err := parallel.Each(ctx, runtime.GOMAXPROCS(0), len(all), func(i int) (err error) {
		if all[i], err = d.recording(ctx, (*rows)[i].media); err != nil {
			return &rowError{i, within(quoteCell(d.class.media), err)}
		}
		(*rows)[i].media = nil
		return nil
	})
	if err != nil {
		return nil, d.atRow(ctx, *rows, err)
	}
	var kept []*media.Audio
	var left []hfPrompt
	for i, a := range all {
		seconds := a.Duration.Seconds()
		if seconds < d.flags.minSeconds || d.flags.maxSeconds > 0 && seconds > d.flags.maxSeconds {
			continue
		}
		if d.held += int64(len(a.Data)); d.held > mostRecordings {
			return nil, d.located(ctx, (*rows)[i], fmt.Errorf("the recordings up to here are larger than %d GiB in all; take fewer with --num-prompts", mostRecordings>>30))
		}
		d.sound += a.Duration
		kept, left = append(kept, a), append(left, (*rows)[i])
	}
	*rows = left
	return kept, nil
}

// recording reads one: a path, samples with their rate, or a file in the row.
func (d *hfDrawing) recording(ctx context.Context, value []byte) (*media.Audio, error) {
	var path string
	switch {
	case value[0] == '"':
		path = jsonscan.Text(value)
	case value[0] == '{' && jsonscan.Fields(value, "array")[0] != nil:
		_, audio, err := recording(value)
		return audio, err
	case value[0] == '{':
		data, name, err := stored(value)
		if err != nil {
			return nil, err
		}
		if data != nil {
			if name != "" {
				name = filepath.Base(name)
			}
			return media.ReadAudio(name, data)
		}
		path = name
	default:
		return nil, fmt.Errorf("expected a recording: got %s", jsonscan.Kind(value))
	}
	path, err := d.find(ctx, path)
	if err != nil {
		return nil, err
	}
	audio, err := media.LoadAudioFile(path)
	return audio, textfile.Cause(err)
}

// attach puts a recording into a request, as the backend takes it.
func (d *hfDrawing) attach(turn *Turn, audio *media.Audio) {
	if d.Forms.Overlap(AsAudio) {
		turn.Audio = audio
	} else {
		turn.Media = audio.Part()
	}
}
