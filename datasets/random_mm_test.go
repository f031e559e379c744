package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/hf/media"
	"benchtop/internal/hf/tokenizer"
)

func randomMMDefaults() randomMMOptions {
	return randomMMOptions{RandomOptions: RandomDefaults(), BaseItems: 1, Limits: media.DefaultLimits(),
		Buckets: media.DefaultBuckets()}
}

// mmFlow is the flow of options that are checked before.
func mmFlow(o randomMMOptions, tok tokenizer.Tokenizer) (Flow, error) {
	m, err := encodedMM(o, tok)
	if err != nil {
		return Flow{}, err
	}
	return m.flow(), nil
}

func encodedMM(o randomMMOptions, tok tokenizer.Tokenizer) (*mediaPrompts, error) {
	m, err := newRandomMM(o, tok)
	if err == nil {
		m.encoder, err = media.NewEncoder(context.Background(), m.draws.Buckets)
	}
	return m, err
}

type mmBucket struct {
	Height int     `json:"height"`
	Width  int     `json:"width"`
	Frames int     `json:"frames"`
	P      float64 `json:"p"`
}

func bucket(height, width, frames int, weight float64) media.Bucket {
	return media.Bucket{Height: height, Width: width, Frames: frames, Weight: weight}
}

func asBuckets(all []mmBucket) media.Buckets {
	var buckets media.Buckets
	for _, b := range all {
		buckets = append(buckets, bucket(b.Height, b.Width, b.Frames, b.P))
	}
	return buckets
}

type mmItem struct {
	Bucket [3]int `json:"bucket"`
	Kind   string `json:"kind"`
	First  []int  `json:"first_samples"`
	Last   []int  `json:"last_samples"`
	Sum    string `json:"pixels_sha256"`
}

func TestRandomMMGolden(t *testing.T) {
	var file struct {
		Cases []struct {
			toyCase
			OutputLen  int          `json:"random_output_len"`
			PrefixLen  int          `json:"random_prefix_len"`
			BaseItems  int          `json:"base_items_per_request"`
			ItemsRatio float64      `json:"num_mm_items_range_ratio"`
			Limits     media.Limits `json:"limit_mm_per_prompt"`
			Buckets    []mmBucket   `json:"bucket_config"`
			Lo         int          `json:"min_num_mm_items"`
			Hi         int          `json:"max_num_mm_items"`
			Effective  media.Limits `json:"effective_limits"`
			Normalized []mmBucket   `json:"normalized_buckets"`
			InputLens  []int        `json:"input_lens"`
			OutputLens []int        `json:"output_lens"`
			Offsets    []int        `json:"offsets"`
			Requests   []struct {
				ID     string   `json:"request_id"`
				Input  int      `json:"prompt_len"`
				Output int      `json:"expected_output_len"`
				Items  []mmItem `json:"items"`
			} `json:"requests"`
			NextUint64 string `json:"rng_check_next_uint64"`
		}
	}
	goldenCases(t, "random_mm_buckets.json", &file)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			ratio := rangeRatio(t, c.Ratio)
			o := randomMMOptions{
				RandomOptions: RandomOptions{Common: Common{Prompts: c.Prompts, IDPrefix: "mm", Seed: c.Seed},
					InputLen: c.InputLen, OutputLen: c.OutputLen, PrefixLen: c.PrefixLen, Ratio: ratio, Batch: 1},
				BaseItems: c.BaseItems, ItemsRatio: c.ItemsRatio, Limits: c.Limits, Buckets: asBuckets(c.Buckets)}
			m := must(newRandomMM(o, c.toy(t)))(t)
			same(t, "fewest items", m.draws.Lo, c.Lo)
			same(t, "most items", m.draws.Hi, c.Hi)
			same(t, "limits", m.draws.Limits, c.Effective)
			same(t, "buckets", m.draws.Buckets, asBuckets(c.Normalized))
			randomCase{toyCase: c.toyCase, InputLens: c.InputLens, OutputLens: c.OutputLens, Offsets: c.Offsets,
				Prefix: append([]int{}, m.prompts.prefix...)}.checkDraws(t, m.prompts)
			for _, want := range c.Requests {
				items := []mmItem{}
				got := must(m.draw(func(b media.Bucket) {
					items = append(items, describe(b, m.prompts.gen.Bytes(b.Size())))
				}))(t)
				same(t, "request id", got.ID, want.ID)
				same(t, want.ID+" input tokens", got.Turns[0].InputTokens, want.Input)
				same(t, want.ID+" output tokens", got.Turns[0].MaxTokens, want.Output)
				same(t, want.ID+" items", items, want.Items)
			}
			_, err := m.draw(nil)
			assert.Is(t, err, io.EOF)
			same(t, "next word of the generator", fmt.Sprint(m.prompts.gen.Uint64()), c.NextUint64)
		})
	}
}

func describe(b media.Bucket, samples []byte) mmItem {
	sum := sha256.Sum256(samples)
	item := mmItem{Bucket: [3]int{b.Height, b.Width, b.Frames}, Kind: b.Modality(), Sum: hex.EncodeToString(sum[:])}
	for i, sample := range samples {
		if i < 12 {
			item.First = append(item.First, int(sample))
		}
		if i >= len(samples)-12 {
			item.Last = append(item.Last, int(sample))
		}
	}
	return item
}

// tiny is options whose images can be made in no time.
func tiny() randomMMOptions {
	o := randomMMDefaults()
	o.Prompts, o.InputLen, o.PrefixLen, o.IDPrefix = 20, 6, 2, "mm-"
	o.BaseItems, o.ItemsRatio = 2, 1
	o.Buckets = media.Buckets{bucket(17, 33, 1, 3), bucket(16, 16, 1, 1), bucket(8, 8, 4, 0)}
	return o
}

// The images sent are those drawn, as JPEG: noise that the compression blurs, but of the same sizes.
func TestRandomMMSendsImages(t *testing.T) {
	tok := newToy(t, "lossy", 997, []int{996}, 0)
	for _, chat := range []bool{false, true} {
		o := tiny()
		o.MultimodalChat = chat
		drawn := must(newRandomMM(o, tok))(t)
		source := must(mmFlow(o, tok))(t)
		same(t, "length", source.Len, 20)
		all := drain(t, source)
		same(t, "requests", len(all), 20)
		for _, got := range all {
			var want []drawnImage
			request := must(drawn.draw(func(b media.Bucket) {
				want = append(want, drawnImage{b, drawn.prompts.gen.Bytes(b.Size())})
			}))(t)
			turn := got.Turns[0]
			same(t, "request id", got.ID, request.ID)
			same(t, "text", turn.Text, request.Turns[0].Text)
			parts := turn.Media
			if chat {
				same(t, "media beside messages", string(turn.Media), "")
				parts = inMessage(t, turn)
			}
			checkImages(t, parts, want)
		}
	}
}

// inMessage is the media of a message, as they would stand beside it.
func inMessage(t *testing.T, turn Turn) json.RawMessage {
	t.Helper()
	var messages []struct {
		Role    string
		Content []json.RawMessage
	}
	fine(t, json.Unmarshal(turn.Messages, &messages))
	same(t, "messages", len(messages), 1)
	same(t, "role", messages[0].Role, "user")
	var text struct{ Type, Text string }
	fine(t, json.Unmarshal(messages[0].Content[0], &text))
	same(t, "type of the first part", text.Type, "text")
	same(t, "text in the message", text.Text, turn.Text)
	var parts [][]byte
	for _, part := range messages[0].Content[1:] {
		parts = append(parts, part)
	}
	return bytes.Join(parts, []byte{','})
}

// drawnImage is an image as it was drawn.
type drawnImage struct {
	media.Bucket
	samples []byte
}

func checkImages(t *testing.T, media []byte, want []drawnImage) {
	t.Helper()
	var parts []struct {
		Type     string
		ImageURL struct{ URL string } `json:"image_url"`
	}
	fine(t, json.Unmarshal(fmt.Appendf(nil, "[%s]", media), &parts))
	same(t, "images", len(parts), len(want))
	for i, part := range parts {
		same(t, "type", part.Type, "image_url")
		coded, ok := strings.CutPrefix(part.ImageURL.URL, "data:image/jpeg;base64,")
		if !ok {
			t.Fatalf("got address %.40q", part.ImageURL.URL)
		}
		file := must(base64.StdEncoding.DecodeString(coded))(t)
		picture := must(jpeg.Decode(bytes.NewReader(file)))(t)
		same(t, "size", picture.Bounds(), image.Rect(0, 0, want[i].Width, want[i].Height))
		same(t, "colours", picture.(*image.YCbCr).SubsampleRatio, image.YCbCrSubsampleRatio420)
		if off := brightnessOff(picture, want[i].samples); off > 25 {
			t.Errorf("the brightness is off by %.0f of 255 on average", off)
		}
	}
}

// brightnessOff is by how much the brightness of a pixel differs on average.
func brightnessOff(picture image.Image, samples []byte) float64 {
	width, sum := picture.Bounds().Dx(), 0.0
	for i := range len(samples) / 3 {
		r, g, b, _ := picture.At(i%width, i/width).RGBA()
		got := 0.299*float64(r>>8) + 0.587*float64(g>>8) + 0.114*float64(b>>8)
		want := 0.299*float64(samples[3*i]) + 0.587*float64(samples[3*i+1]) + 0.114*float64(samples[3*i+2])
		sum += math.Abs(got - want)
	}
	return sum / float64(len(samples)/3)
}

// wide is a tokenizer that flags more ids as special than those with a role.
type wide struct{ toy }

func (wide) AddedSpecialIDs() []int { return []int{3, 4, 5} }

func TestRandomMMLeavesOutAddedSpecialIDs(t *testing.T) {
	o := tiny()
	o.InputLen, o.BaseItems = 100, 0
	source := must(mmFlow(o, wide{newToy(t, "identity", 9, []int{3}, 0)}))(t)
	for _, c := range drain(t, source) {
		if strings.ContainsAny(c.Turns[0].Text, "345") {
			t.Fatalf("got prompt %q", c.Turns[0].Text)
		}
		same(t, "media", string(c.Turns[0].Media), "")
	}
}

func TestRandomMMDescription(t *testing.T) {
	const prompts = "random-mm: 6 input tokens after a prefix of 2, 128 output tokens, as text"
	o := tiny()
	source := must(mmFlow(o, newToy(t, "identity", 97, nil, 0)))(t)
	same(t, "description", source.About,
		prompts+", with 0 to 4 random images each of 17 by 33 pixels (75 %) or 16 by 16 pixels (25 %)")
	o.ItemsRatio = 0
	source = must(mmFlow(o, newToy(t, "identity", 0, nil, 0)))(t)
	same(t, "description", source.About,
		prompts+" of token ids 1000 to 31999 (assumed: the tokenizer does not tell its "+
			"vocabulary, so this is not vLLM's workload), with 2 random images each of 17 by 33 pixels (75 %) or 16 "+
			"by 16 "+
			"pixels (25 %)")
}

func TestRandomMMRefusals(t *testing.T) {
	reasons := map[string]string{
		"min_items_above_max_items":    "at least 3 items a request are asked for, but the limits allow only 1",
		"modality_without_limit":       "bucket {(4, 4, 2): 1}: no limit for videos",
		"negative_bucket_weight":       "the weight -1 must not be negative",
		"no_positive_bucket_weight":    "no bucket has a weight above 0",
		"mm_range_ratio_out_of_bounds": "items range ratio 1.5",
		"bucket_frames_below_one":      "number of frames 0 must be at least 1",
	}
	for _, c := range refusals(t, "random-mm") {
		var args struct {
			BaseItems int             `json:"base_items_per_request"`
			Limits    json.RawMessage `json:"limit_mm_per_prompt"`
			Buckets   json.RawMessage `json:"bucket_config"`
			Ratio     float64         `json:"num_mm_items_range_ratio"`
		}
		if !c.arguments(t, &args) {
			continue // it is about the back end
		}
		if reasons[c.Error] == "" {
			t.Fatalf("nobody knows the reason %q", c.Error)
		}
		o := tiny()
		o.BaseItems, o.ItemsRatio = args.BaseItems, args.Ratio
		var err1, err2 error
		o.Limits, err1 = media.ParseLimits(string(args.Limits))
		o.Buckets, err2 = media.ParseBuckets(string(args.Buckets))
		fine(t, errors.Join(err1, err2))
		complains(t, o.Validate(), "dataset random-mm", reasons[c.Error])
	}
}

func TestRandomMMTokenizerErrors(t *testing.T) {
	complains(t, failure(mmFlow(tiny(), brokenToy{toy{size: 10}})), "dataset random-mm, prefix: no server")
	o := tiny()
	o.PrefixLen = 0
	source := must(mmFlow(o, brokenToy{toy{size: 10}}))(t)
	for range 2 {
		complains(t, failure(source.Next()), "dataset random-mm, prompt 0: no server")
	}
	complains(t, failure(mmFlow(tiny(), toy{size: 1, special: []int{0}})), "dataset random-mm",
		"nothing but special tokens")
}

// The whole way of an image of 1080p: drawn, encoded and put into a message.
func BenchmarkRandomMM1080p(b *testing.B) {
	o := tiny()
	o.Prompts, o.BaseItems, o.ItemsRatio = b.N, 1, 0
	o.Buckets = media.Buckets{bucket(1080, 1920, 1, 1)}
	source := must(mmFlow(o, newToy(b, "identity", 997, nil, 0)))(b)
	b.ReportAllocs()
	b.ResetTimer()
	for {
		if _, err := source.Next(); err != nil {
			break
		}
	}
}

// Images are made ahead of need, a few of them, and none are in work behind Close.
func TestRandomMMAhead(t *testing.T) {
	o := tiny()
	o.Prompts, o.BaseItems = 1000, 3
	m := must(encodedMM(o, newToy(t, "identity", 97, nil, 0)))(t)
	f := m.flow()
	must(f.Next())(t)
	same(t, "requests ahead", len(m.begun), media.Window()-1)
	f.End()
	for _, r := range m.begun { // what was begun is there at once
		if _, err := r.finish(false); err != nil {
			t.Errorf("request %s: %v", r.ID, err)
		}
	}
}
