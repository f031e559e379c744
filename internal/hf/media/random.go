package media

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"

	"benchtop/internal/hf/numpy"
)

// Draws draws the media of requests.
type Draws struct {
	Buckets Buckets // with weights above 0 that add up to 1
	Limits  Limits  // of the modalities that have a bucket
	Lo, Hi  int     // media in a request
}

// NewDraws is for about so many items in a request, whose number strays by a ratio, as vLLM has it.
func NewDraws(items int, ratio float64, limits Limits, buckets Buckets) (Draws, error) {
	d := Draws{Buckets: buckets.normalized(), Limits: Limits{}}
	most := 0
	for _, b := range d.Buckets {
		if _, counted := d.Limits[b.Modality()]; !counted {
			d.Limits[b.Modality()] = limits[b.Modality()]
			most += limits[b.Modality()]
		}
	}
	d.Lo = max(0, int(math.Floor(float64(items)*(1-ratio))))
	d.Hi = min(most, int(math.Ceil(float64(items)*(1+ratio))))
	if d.Lo > d.Hi {
		return d, fmt.Errorf("at least %d items a request are asked for, but the limits allow only %d; ask for fewer "+
			"or raise the limits", d.Lo, d.Hi)
	}
	return d, nil
}

// normalized is the buckets whose weight is not 0, with weights that add up to 1.
func (b Buckets) normalized() Buckets {
	sum := 0.0
	for _, bucket := range b {
		sum += bucket.Weight
	}
	var kept Buckets
	for _, bucket := range b {
		if bucket.Weight != 0 {
			bucket.Weight /= sum
			kept = append(kept, bucket)
		}
	}
	return kept
}

// without is the buckets of other modalities.
func (b Buckets) without(modality string) Buckets {
	return slices.DeleteFunc(slices.Clone(b),
		func(bucket Bucket) bool { return bucket.Modality() == modality }).normalized()
}

// Request draws the media of one request: how many, and then of each its bucket and, by take, its samples. A bucket
// whose modality has reached its limit is drawn in vain, and no bucket of that modality can be drawn after it.
func (d Draws) Request(gen *numpy.Generator, take func(Bucket)) {
	taken, each := 0, map[string]int{}
	n := int(gen.Integers(int64(d.Lo), int64(d.Hi)+1))
	for left := d.Buckets; taken < n && len(left) > 0; {
		weights := make([]float64, len(left))
		for i, b := range left {
			weights[i] = b.Weight
		}
		b := left[gen.ChoiceWeighted(weights)]
		if each[b.Modality()] == d.Limits[b.Modality()] {
			left = left.without(b.Modality())
			continue
		}
		taken++
		each[b.Modality()]++
		take(b)
	}
}

// Encoder makes content parts of random media, several at once, while their samples are drawn one after another. One
// goroutine uses it.
//
//	Begin: samples ──▶ encoding, as many at once as there are processors ──▶ Part
type Encoder struct {
	ctx    context.Context // bounds the encoding of videos
	ffmpeg string          // "" where there are none
	work   []*Encoding     // in the order of their beginning
	size   int             // of their samples, in bytes
	spare  []*bench
}

// NewEncoder is for media of some buckets. It is ErrNoFFmpeg where videos are among them that cannot be encoded here.
// The end of ctx ends the encoding of videos.
func NewEncoder(ctx context.Context, buckets Buckets) (e *Encoder, err error) {
	e = &Encoder{ctx: ctx}
	if slices.ContainsFunc(buckets, func(b Bucket) bool { return b.Modality() == videoModality }) {
		e.ffmpeg, err = findFFmpeg()
	}
	return e, err
}

// Encoding is a random medium on its way to a content part. Its fields may be read once done is closed.
type Encoding struct {
	bucket Bucket
	bench  *bench
	done   chan struct{}
	part   json.RawMessage
	err    error
}

// bench is the memory for the encoding of a medium, which is used for many.
type bench struct {
	samples, file []byte
	jpeg          jpegEncoder
}

// WindowBytes bounds the samples that wait for their encoding, unless those of one medium take more.
const WindowBytes = 64 << 20

// Window is how many media, or requests of them, are to be in work at once, so that all processors have work.
func Window() int { return 2 * runtime.GOMAXPROCS(0) }

// Begin has the samples of a medium drawn, which are rows of red, green and blue, frame by frame, and begins to encode
// it. It waits until there is room.
func (e *Encoder) Begin(b Bucket, draw func(samples []byte)) *Encoding {
	for len(e.work) > 0 && (len(e.work) >= Window() || e.size+b.Size() > WindowBytes) {
		e.finish()
	}
	x := &Encoding{bucket: b, bench: &bench{}, done: make(chan struct{})}
	if n := len(e.spare); n > 0 {
		x.bench, e.spare = e.spare[n-1], e.spare[:n-1]
	}
	x.bench.samples = slices.Grow(x.bench.samples[:0], b.Size())[:b.Size()]
	draw(x.bench.samples)
	e.work, e.size = append(e.work, x), e.size+b.Size()
	go x.encode(e.ctx, e.ffmpeg)
	return x
}

// finish waits for the oldest encoding.
func (e *Encoder) finish() {
	x := e.work[0]
	<-x.done
	e.work, e.size = e.work[1:], e.size-x.bucket.Size()
	if cap(x.bench.samples) <= WindowBytes/Window() {
		e.spare = append(e.spare, x.bench)
	}
	x.bench = nil
}

// Close waits for all that was begun.
func (e *Encoder) Close() {
	for len(e.work) > 0 {
		e.finish()
	}
}

// Part waits for the content part of the chat API, with the medium inside.
func (x *Encoding) Part() (json.RawMessage, error) {
	<-x.done
	return x.part, x.err
}

func (x *Encoding) encode(ctx context.Context, ffmpeg string) {
	defer close(x.done)
	b := x.bench
	if x.bucket.Modality() == imageModality {
		b.file = b.jpeg.appendJPEG(b.file[:0], b.samples, x.bucket.Width, x.bucket.Height)
		x.part = dataPart(imageModality, "image/jpeg", b.file)
		return
	}
	file, err := encodeVideo(ctx, ffmpeg, x.bucket, b.samples)
	if err != nil {
		x.err = fmt.Errorf("a video of %d by %d pixels and %d frames: %w", x.bucket.Height, x.bucket.Width,
			x.bucket.Frames, err)
		return
	}
	x.part = VideoPart(file)
}

// VideoPart is the content of a video's file as a content part of the chat API.
func VideoPart(file []byte) json.RawMessage { return dataPart(videoModality, "video/mp4", file) }

// dataPart is a content part that holds a file.
func dataPart(kind, mime string, file []byte) json.RawMessage {
	start := fmt.Sprintf(`{"type":"%s_url","%[1]s_url":{"url":"data:%s;base64,`, kind, mime)
	const end = `"}}`
	part := make([]byte, 0, len(start)+base64.StdEncoding.EncodedLen(len(file))+len(end))
	return append(base64.StdEncoding.AppendEncode(append(part, start...), file), end...)
}
