package media

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bucket is a shape that random media may have, and how likely it is beside the others.
type Bucket struct {
	Height int     `json:"height"` // pixels
	Width  int     `json:"width"`
	Frames int     `json:"frames"` // 1 for an image, more for a video
	Weight float64 `json:"weight"`
}

// The modalities of media, as limits name them.
const (
	imageModality = "image"
	videoModality = "video"
)

// Modality is image or video, as limits name them.
func (b Bucket) Modality() string {
	if b.Frames > 1 {
		return videoModality
	}
	return imageModality
}

// Size is how many colour samples a medium of this shape has.
func (b Bucket) Size() int { return b.Frames * b.Height * b.Width * 3 }

// Buckets are the shapes of random media, in the order in which they share the range of a draw.
type Buckets []Bucket

// DefaultBuckets are vLLM's: images of 256 by 256 and 720 by 1280 pixels, as likely as each other, and no videos.
func DefaultBuckets() Buckets {
	return Buckets{{256, 256, 1, 0.5}, {720, 1280, 1, 0.5}, {720, 1280, 16, 0}}
}

// String writes the buckets as Python would, so that ParseBuckets reads them back.
func (b Buckets) String() string {
	var s strings.Builder
	for i, bucket := range b {
		if i > 0 {
			s.WriteString(", ")
		}
		weight := strconv.FormatFloat(bucket.Weight, 'g', -1, 64)
		if math.IsInf(bucket.Weight, 0) {
			weight = strings.Replace(weight, "Inf", "1e999", 1) // Python has no word for it
		}
		fmt.Fprintf(&s, "(%d, %d, %d): %s", bucket.Height, bucket.Width, bucket.Frames, weight)
	}
	return "{" + s.String() + "}"
}

const bucketsForm = "expected a Python dict such as {(256, 256, 1): 0.5, (720, 1280, 1): 0.5}, its keys (height, width, frames)"

// ParseBuckets reads a Python dict from (height, width, frames) to a weight. A key may also be a string that holds such a
// tuple, as in JSON. Whether the numbers make sense is checked with the rest of the options.
func ParseBuckets(text string) (Buckets, error) {
	value, err := parseLiteral(text)
	if err != nil {
		return nil, fmt.Errorf("bucket config %q: %w; %s", text, err, bucketsForm)
	}
	dict, ok := value.(pyDict)
	if !ok {
		return nil, fmt.Errorf("bucket config %q: %s", text, bucketsForm)
	}
	var buckets Buckets
	for _, item := range dict {
		b, err := readBucket(item)
		if err != nil {
			return nil, fmt.Errorf("bucket config %q: %w; %s", text, err, bucketsForm)
		}
		// A key that comes again keeps its place and gets the new weight.
		same := func(other Bucket) bool {
			return other.Height == b.Height && other.Width == b.Width && other.Frames == b.Frames
		}
		if at := slices.IndexFunc(buckets, same); at >= 0 {
			buckets[at] = b
		} else {
			buckets = append(buckets, b)
		}
	}
	return buckets, nil
}

func readBucket(item pyItem) (Bucket, error) {
	key := item.key
	if text, ok := key.(string); ok {
		key, _ = parseLiteral(text) // an unreadable text is no tuple
	}
	shape := make([]int, 0, 3)
	tuple, _ := key.(pyTuple)
	for _, side := range tuple {
		if n, ok := side.(int64); ok {
			shape = append(shape, int(max(math.MinInt32, min(n, math.MaxInt32)))) // beyond is refused alike
		}
	}
	if len(tuple) != 3 || len(shape) != 3 {
		return Bucket{}, fmt.Errorf("the key %v is no tuple of three whole numbers", item.key)
	}
	b := Bucket{Height: shape[0], Width: shape[1], Frames: shape[2]}
	switch weight := item.value.(type) {
	case int64:
		b.Weight = float64(weight)
	case float64:
		b.Weight = weight
	default:
		return Bucket{}, fmt.Errorf("the weight of %v is %v, which is no number", item.key, item.value)
	}
	return b, nil
}

// Limits says how many media of each modality, "image" and "video", a request may hold.
type Limits map[string]int

// DefaultLimits are vLLM's: 255 images and one video.
func DefaultLimits() Limits { return Limits{imageModality: 255, videoModality: 1} }

// ParseLimits reads a JSON object.
func ParseLimits(text string) (Limits, error) {
	var limits map[string]*int32
	if err := json.Unmarshal([]byte(text), &limits); err != nil || limits == nil {
		return nil, fmt.Errorf(`media limits %q: expected a JSON object with whole numbers such as {"image": 3, "video": 0}`, text)
	}
	parsed := Limits{}
	for modality, limit := range limits {
		if limit == nil || *limit < 0 {
			return nil, fmt.Errorf("media limits %q: the limit for %q must be 0 or more", text, modality)
		}
		parsed[modality] = int(*limit)
	}
	return parsed, nil
}

// String writes the limits so that ParseLimits reads them back.
func (m Limits) String() string {
	text, _ := json.Marshal(map[string]int(m)) // strings and numbers always encode
	return string(text)
}
