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
	"sync"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/media"
	"benchtop/internal/jsonscan"
)

// eachMedium calls do with the picture, video or recording of each row, several at a time: nil where there is none. It
// goes through the files in their order, since a page of a table holds many rows. tell hears how many were begun.
func (d *hfSampler) eachMedium(ctx context.Context, rows []hfPrompt, tell func(n int),
	do func(i int, value []byte) error) error {
	places, errs := make([]hfRow, len(rows)), make([]error, len(rows))
	for i, p := range rows {
		places[i] = p.at
	}
	optional := d.class.limits.most > 0 // conversations may be without
	running, slots, begun := sync.WaitGroup{}, make(chan struct{}, runtime.GOMAXPROCS(0)), 0
	err := d.tables.rows(ctx, places, map[string]bool{d.column(d.class.media): !optional},
		func(i int, object []byte) error {
			value, err := mediaAt(object, d.class.media, optional)
			if errs[i] = err; err != nil {
				return nil
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			running.Go(func() {
				errs[i] = within(textfile.Quote(d.class.media), do(i, value))
				<-slots
			})
			begun++
			tell(begun)
			return nil
		})
	running.Wait()
	for i := range rows {
		if err == nil && errs[i] != nil {
			err = d.located(ctx, rows[i], errs[i])
		}
	}
	return err
}

// complete puts the pictures or videos of the rows into their requests, and these into messages if that is wanted.
func (d *hfSampler) complete(ctx context.Context, rows []hfPrompt, requests []Conversation) error {
	put := func(i int, part json.RawMessage) {
		turn := &requests[i].Turns[0]
		if d.asMessages() {
			turn.Messages = chatMessages(turn.Text, part)
		} else {
			turn.Media = part
		}
	}
	switch {
	case d.class.medium == withPicture, d.class.medium == withVideo:
		before, media := len(d.drawn)-len(requests), "pictures"
		if d.class.medium == withVideo {
			media = "videos"
		}
		tell := func(n int) { d.tell("%d of %d %s loaded", before+n, d.Prompts, media) }
		return d.eachMedium(ctx, rows, tell, func(i int, value []byte) error {
			part, err := d.part(ctx, value)
			if err == nil {
				put(i, part)
			}
			return err
		})
	case d.class.chat:
		for i := range rows {
			put(i, nil)
		}
	}
	return nil
}

// part is the content part of a picture or a video; nil for none.
func (d *hfSampler) part(ctx context.Context, value []byte) (json.RawMessage, error) {
	switch {
	case value == nil:
		return nil, nil
	case d.class.medium == withVideo && value[0] != '{':
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
	if d.class.medium == withVideo {
		return media.VideoPart(data), nil
	}
	return media.ImagePart(data)
}

// video is the part of a video, which is named in the repository by its address on the hub and is a file here.
func (d *hfSampler) video(ctx context.Context, value []byte) (json.RawMessage, error) {
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

// stored is a file in a row, as the hub's tables have pictures and recordings: its content, or where that is null its
// path.
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
		err = fmt.Errorf(`expected "bytes" or a "path": got %s`, textfile.Value(value))
	}
	return data, path, err
}

// find is where a file lies that a row names: here, or in the repository.
func (d *hfSampler) find(ctx context.Context, path string) (string, error) {
	if info, err := os.Stat(path); filepath.IsAbs(path) || err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	return d.hub.Beside(ctx, d.from, path)
}

// recordings loads those of the rows, and leaves out rows whose recordings are too short or too long; nil where the
// rows have none.
func (d *hfSampler) recordings(ctx context.Context,
	rows []hfPrompt) (kept []hfPrompt, recordings []*media.Audio, err error) {
	if d.class.medium != withRecording {
		return rows, nil, nil
	}
	all := make([]*media.Audio, len(rows))
	err = d.eachMedium(ctx, rows, func(int) { d.tellRows(0) }, func(i int, value []byte) error {
		a, err := d.recording(ctx, value)
		if err != nil {
			return err
		}
		if s := a.Duration.Seconds(); s < d.flags.minSeconds || d.flags.maxSeconds > 0 && s > d.flags.maxSeconds {
			return nil
		}
		if d.held.Add(int64(len(a.Data))) > mostRecordings {
			return fmt.Errorf("the recordings up to here are larger than %d GiB in all; take fewer with --num-prompts",
				mostRecordings>>30)
		}
		all[i] = a
		return nil
	})
	for i, a := range all {
		if a != nil {
			d.sound += a.Duration
			kept, recordings = append(kept, rows[i]), append(recordings, a)
		}
	}
	return kept, recordings, err
}

// recording reads one: a path, samples with their rate, or a file in the row.
func (d *hfSampler) recording(ctx context.Context, value []byte) (*media.Audio, error) {
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
func (d *hfSampler) attach(turn *Turn, audio *media.Audio) {
	if d.Forms.Overlap(AsAudio) {
		turn.Audio = audio
	} else {
		turn.Media = audio.Part()
	}
}
