package datasets

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/media"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/jsonscan"
	"benchtop/internal/parallel"
)

// customAudio selects prompts from a file of recordings in JSON lines, whose name ends in .jsonl.
type customAudio struct{ custom }

func (o customAudio) Define(func(string) Flags) {} // custom has the flags

func (o customAudio) needs() Needs {
	return Needs{File: RequiredFile, Forms: AsAudio | AsMessages, Why: recordingsInFiles, Ends: true, AllRows: true,
		Counts: true, OutputLen: max(0, o.length())}
}

const recordingsInFiles = "recordings travel as files or in chat messages"

func (o customAudio) check() error { return o.problems().of("custom_audio") }

// open reads the file and the recordings, and picks prompts as vLLM picks them for the same seed. A transcription
// request holds the recording as a file, a chat message as a part. Without a counter every prompt is taken for one
// token. It does not touch the legacy generator.
func (o customAudio) open(ctx context.Context, t Tools) (Flow, error) {
	list, err := o.draw(ctx, t.Text(), t.Streams().Python)
	return list, inFile("custom_audio", o.Path, err)
}

const customAudioForm = `an object like {"audio": "path.wav", "prompt": "text", "output_tokens": 100}`

// audioRow is a line of the file: a recording, or the path of one.
type audioRow struct {
	customRow
	path  string
	audio *media.Audio
}

func (o customAudio) draw(ctx context.Context, text Text, py *numpy.Python) (Flow, error) {
	rows, err := textfile.Read(o.Path, "a file with an object on each line", o.read)
	if err != nil {
		return Flow{}, err
	}
	picked, want := pick(rows, o.Common, py)
	turns, lasts, err := o.turns(ctx, picked)
	if err == nil {
		err = text.countTexts(ctx, turns)
	}
	if err != nil {
		return Flow{}, err
	}
	mean := (lasts / time.Duration(len(turns))).Seconds()
	return o.list("custom_audio", turns, want,
		fmt.Sprintf("%d with recordings of %.1f s on average in %s", len(rows), mean, o.Path), py)
}

// mostRecordings bounds the recordings of a run in bytes, since they are kept in memory.
const mostRecordings = 2 << 30

func (o customAudio) read(r io.Reader) ([]audioRow, error) {
	held := 0
	return textfile.Rows(r, customAudioForm, func(object []byte, line int) (audioRow, error) {
		row := audioRow{customRow: customRow{line: line}}
		fields := jsonscan.Fields(object, "audio", "prompt", "output_tokens")
		row.path, row.audio, row.bad = recording(fields[0])
		if row.bad == nil && fields[1] != nil {
			row.prompt, row.bad = promptText(fields[1])
		}
		if row.bad == nil && o.length() == OutputFromFile {
			row.output, row.bad = outputTokens(fields[2])
		}
		if row.audio != nil {
			if held += len(row.audio.Data); held > mostRecordings {
				return row, fmt.Errorf("its recordings are larger than %d GiB in all; name files instead of giving "+
					"samples", mostRecordings>>30)
			}
		}
		return row, nil
	})
}

// recording reads the value of "audio": a path, or samples with their rate, as an object or a pair.
func recording(raw []byte) (path string, audio *media.Audio, err error) {
	switch {
	case raw == nil:
		return "", nil, fmt.Errorf(`"audio" is missing; expected %s`, customAudioForm)
	case raw[0] == '"':
		if path, err = jsonscan.WholeText(raw); err == nil && path == "" {
			err = errors.New(`"audio" is empty; give the path of a recording`)
		}
		return path, nil, err
	case raw[0] == '{':
		fields := jsonscan.Fields(raw, "array", "sampling_rate")
		audio, err = sampled(fields[0], fields[1])
	case raw[0] == '[':
		var pair [][]byte
		for element := range jsonscan.Elements(raw) {
			if pair = append(pair, element); len(pair) > 2 {
				break
			}
		}
		if len(pair) == 2 {
			audio, err = sampled(pair[0], pair[1])
			break
		}
		fallthrough
	default:
		err = fmt.Errorf(`expected "audio" to be a path, {"array": [0.1, …], "sampling_rate": 16000} or [[0.1, …], `+
			`16000]: got %s`, textfile.Value(raw))
	}
	return "", audio, err
}

// sampled is a recording of samples, or of frames with a sample for each channel.
func sampled(array, rate []byte) (*media.Audio, error) {
	if len(array) == 0 || array[0] != '[' {
		return nil, fmt.Errorf(`expected "array" to be an array of samples: got %s`, jsonscan.Kind(array))
	}
	perSecond, err := strconv.ParseFloat(string(rate), 64)
	if err != nil || perSecond < 1 || perSecond > math.MaxInt32 || perSecond != math.Trunc(perSecond) {
		return nil, fmt.Errorf(`expected "sampling_rate" to be a whole number from 1 to %d: got %s`, math.MaxInt32,
			textfile.Value(rate))
	}
	samples, channels, err := frames(array)
	if err != nil {
		return nil, err
	}
	return media.PCM(samples, channels, uint32(perSecond))
}

// frames are the samples of all channels, interleaved.
func frames(array []byte) (samples []float64, channels int, err error) {
	const most = 1024 // channels
	for element := range jsonscan.Elements(array) {
		before := len(samples)
		if element[0] != '[' {
			var v float64
			if v, err = amplitude(element); err != nil {
				return nil, 0, err
			}
			samples = append(samples, v)
		} else {
			for part := range jsonscan.Elements(element) {
				var v float64
				if v, err = amplitude(part); err != nil {
					return nil, 0, err
				}
				samples = append(samples, v)
			}
		}
		got := len(samples) - before
		channels = cmp.Or(channels, got)
		if got == 0 || got != channels || got > most {
			return nil, 0,
				fmt.Errorf(`expected a sample for each of 1 to %d channels, as many in every element of "array": got `+
					`%s`, most, textfile.Value(element))
		}
	}
	return samples, max(1, channels), nil
}

// amplitude is a sample from -1 to 1, or a little louder. Whole numbers beyond that are those of 16 bits.
func amplitude(raw []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("expected samples to be numbers: got %s", textfile.Value(raw))
	case math.Abs(v) > 1 && !bytes.ContainsAny(raw, ".eE"):
		return 0, fmt.Errorf("samples go from -1 to 1: got %s; divide those of 16 bits by 32768", raw)
	}
	return v, nil
}

// turns makes requests of the rows, of one token each, and adds up how long their recordings last. A file is read once.
func (o customAudio) turns(ctx context.Context, rows []audioRow) (turns []Turn, lasts time.Duration, err error) {
	var paths []audioRow // the first row of each
	at := map[string]int{}
	for _, row := range rows {
		if row.bad != nil {
			return nil, 0, textfile.AtLine(row.line, row.bad)
		}
		if _, known := at[row.path]; !known && row.audio == nil {
			at[row.path] = len(paths)
			paths = append(paths, row)
		}
	}
	files, err := loadRecordings(ctx, paths)
	if err != nil {
		return nil, 0, err
	}
	parts := make(map[*media.Audio]json.RawMessage, len(files))
	turns = make([]Turn, len(rows))
	for i, row := range rows {
		audio := row.audio
		if audio == nil {
			audio = files[at[row.path]]
		}
		lasts += audio.Duration
		turns[i] = Turn{Text: row.prompt, InputTokens: 1, MaxTokens: o.answer(row.customRow)}
		if o.Forms.Overlap(AsAudio) {
			turns[i].Audio = audio
			continue
		}
		if parts[audio] == nil {
			parts[audio] = audio.Part()
		}
		turns[i].Media = parts[audio]
	}
	return turns, lasts, nil
}

// loadRecordings reads the files that rows name.
func loadRecordings(ctx context.Context, rows []audioRow) ([]*media.Audio, error) {
	files := make([]*media.Audio, len(rows))
	var held atomic.Int64
	err := parallel.Each(ctx, runtime.GOMAXPROCS(0), len(rows), func(i int) (err error) {
		if files[i], err = media.LoadAudio(rows[i].path); err != nil {
			return textfile.AtLine(rows[i].line,
				fmt.Errorf("recording %s: %w", shortened(rows[i].path), missing(rows[i].path, textfile.Cause(err))))
		}
		if held.Add(int64(len(files[i].Data))) > mostRecordings {
			return textfile.AtLine(rows[i].line,
				fmt.Errorf("the recordings up to here are larger than %d GiB in all; take fewer with --num-prompts",
					mostRecordings>>30))
		}
		return nil
	})
	return files, err
}

// missing says where a relative path begins that leads nowhere.
func missing(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) || filepath.IsAbs(path) {
		return err
	}
	return fmt.Errorf("%w; relative paths start from the working directory", err)
}
