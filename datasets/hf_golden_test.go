package datasets

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/media"
	"benchtop/internal/hf/numpy"
)

// hfFile is a hub whose data sets are all the rows of a file.
type hfFile struct {
	path  string
	asked hub.Selection
}

func (h *hfFile) Select(ctx context.Context, s hub.Selection) ([]hub.Shard, error) {
	h.asked, s.Path = s, h.path
	return toyTools{}.Hub().Select(ctx, s)
}

func (h *hfFile) Beside(_ context.Context, _ hub.Selection, name string) (string, error) {
	return "/hub/snapshot/" + name, nil
}

func (h *hfFile) Report(string) {}

// hfCase is a case of the golden file.
type hfCase struct {
	customCase
	Load struct {
		Name, Split *string
		Streaming   bool
	}
}

// kind is the data set of the hub with the case's flags.
func (c hfCase) kind() *hf {
	k := defaults[hf]("hf")
	k.Common = Common{Path: c.Path, Prompts: c.Prompts, Seed: c.Seed, IDPrefix: "hf-",
		Forms: AsText | AsMedia | AsMessages}
	if c.Backend == "openai-audio" {
		k.Forms = AsAudio
	}
	flags := k.flagsOf(c.Flags)
	k.Define(func(string) Flags { return flags })
	return &k
}

// hfRows writes rows of the golden file as JSON Lines. Recordings are silence of the length given.
func hfRows(t *testing.T, rows []json.RawMessage) string {
	t.Helper()
	var lines strings.Builder
	for _, row := range rows {
		var sound struct {
			Seconds float64 `json:"audio_seconds"`
		}
		fine(t, json.Unmarshal(row, &sound))
		if sound.Seconds > 0 {
			data := media.Silence(time.Duration(sound.Seconds * float64(time.Second))).Data
			row = fmt.Appendf(nil, `{"audio": {"bytes": "%s", "path": null}}`, base64.StdEncoding.EncodeToString(data))
		}
		lines.WriteString(compact(row) + "\n")
	}
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	write(t, path, lines.String())
	return path
}

func TestHFGolden(t *testing.T) {
	ci.SkipUnderRace(t)
	var file struct {
		Rows      map[string][]json.RawMessage
		Templates map[string]string
		Cases     []hfCase
	}
	goldenCases(t, "hf_prompts.json", &file)
	for name, prompt := range map[string]string{"zeta": zetaPrompt, "instruct_coder": instructCoderPrompt,
		"blazedit":             blazeditPrompt,
		"asr_openai_tokenizer": whisperPrompt, "asr_cohere_tokenizer": coherePrompt} {
		same(t, "prompt of "+name, prompt, file.Templates[name])
	}
	for _, c := range file.Cases {
		t.Run(c.Path+strings.Join(c.Flags, " "), func(t *testing.T) {
			k := c.kind()
			fine(t, k.check())
			h := &hfFile{path: hfRows(t, file.Rows[c.Path])}
			streams := numpy.NewStreams(uint32(c.Seed))
			d := k.drawing(Text{Counter: byWords{}, Template: roleTags{}}, h,
				func(note string) { t.Errorf("told %q", note) })
			list := must(d.draw(t.Context(), streams.Python, nil))(t)
			asked := func(s string) *string {
				if s == "" {
					return nil
				}
				return &s
			}
			same(t, "subset", asked(h.asked.Subset), c.Load.Name)
			same(t, "split", asked(h.asked.Split), c.Load.Split)
			c.checkHF(t, drain(t, list), k.MultimodalChat)
			same(t, "next word of numpy", streams.Legacy.Uint32(), numpy.NewLegacy(uint32(c.Seed)).Uint32())
		})
	}
}

// checkHF is check, where a prompt that was too long to print is null, recordings are given by their length, and media
// in messages do not travel a second time.
func (c hfCase) checkHF(t *testing.T, got []Conversation, chat bool) {
	t.Helper()
	for i := range c.Requests[:min(len(got), len(c.Requests))] {
		want, turn := &c.Requests[i], &got[i].Turns[0]
		if string(want.Prompt) == "null" {
			want.Prompt, _ = json.Marshal(turn.Text)
		}
		if chat {
			want.Media = json.RawMessage("null")
		}
		if turn.Audio != nil {
			turn.Media = fmt.Appendf(nil, `{"audio_seconds":%g}`, turn.Audio.Duration.Seconds())
			var seconds struct {
				Seconds float64 `json:"audio_seconds"`
			}
			_ = json.Unmarshal(want.Media, &seconds)
			want.Media = fmt.Appendf(nil, `{"audio_seconds":%g}`, seconds.Seconds)
		}
		if turn.Messages != nil {
			turn.Text = ""
		}
	}
	c.check(t, got)
}
