package media

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
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

const bucketsForm = "expected a Python dict such as {(256, 256, 1): 0.5, (720, 1280, 1): 0.5}, its keys (height, " +
	"width, frames)"

// ParseBuckets reads a Python dict from (height, width, frames) to a weight. A key may also be a string that holds such
// a tuple, as in JSON. Whether the numbers make sense is checked with the rest of the options.
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
		return Bucket{}, fmt.Errorf("the key %v is not a tuple of three whole numbers", item.key)
	}
	b := Bucket{Height: shape[0], Width: shape[1], Frames: shape[2]}
	switch weight := item.value.(type) {
	case int64:
		b.Weight = float64(weight)
	case float64:
		b.Weight = weight
	default:
		return Bucket{}, fmt.Errorf("weight of %v: expected a number, got %v", item.key, item.value)
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
		return nil, fmt.Errorf(
			`media limits %q: expected a JSON object with whole numbers such as {"image": 3, "video": 0}`, text)
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

// A value written in Python is read as int64, float64, string, pyTuple or pyDict.
type (
	pyTuple []any
	pyDict  []pyItem // in the order written, keys that come twice included
	pyItem  struct{ key, value any }
)

// parseLiteral reads a Python literal as ast.literal_eval does, of the kinds above. Other kinds, escapes in strings and
// comments are refused.
func parseLiteral(text string) (any, error) {
	l := pythonReader{text: text}
	value, err := l.list(0)
	if err == nil && l.at < len(text) {
		err = l.unexpected("the end")
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

// String writes the tuple as Python would.
func (t pyTuple) String() string {
	var s strings.Builder
	for i, value := range t {
		if i > 0 {
			s.WriteString(", ")
		}
		fmt.Fprint(&s, value)
	}
	if len(t) == 1 {
		s.WriteByte(',')
	}
	return "(" + s.String() + ")"
}

// pythonReader is a text that is read from left to right.
type pythonReader struct {
	text string
	at   int
}

// maxNesting bounds nesting, for the stack.
const maxNesting = 20

func (l *pythonReader) blanks() {
	for l.at < len(l.text) && strings.IndexByte(" \t\n\r\f", l.text[l.at]) >= 0 {
		l.at++
	}
}

// take skips blanks and c, and reports whether c was there. Blanks behind it are skipped too.
func (l *pythonReader) take(c byte) bool {
	l.blanks()
	if l.at == len(l.text) || l.text[l.at] != c {
		return false
	}
	l.at++
	l.blanks()
	return true
}

func (l *pythonReader) unexpected(want string) error {
	got := "the end"
	if l.at < len(l.text) {
		rest := []rune(l.text[l.at:min(len(l.text), l.at+64)])
		got = strconv.Quote(string(rest[:min(len(rest), 12)]))
	}
	return fmt.Errorf("at character %d: expected %s, got %s", l.at+1, want, got)
}

// list is a value, or several with commas between them, which make a tuple with or without parentheses around it.
func (l *pythonReader) list(depth int) (any, error) {
	first, err := l.value(depth)
	if err != nil || !l.take(',') {
		return first, err
	}
	tuple := pyTuple{first}
	for l.at < len(l.text) && l.text[l.at] != ')' {
		value, err := l.value(depth)
		if err != nil {
			return nil, err
		}
		tuple = append(tuple, value)
		if !l.take(',') {
			break
		}
	}
	return tuple, nil
}

func (l *pythonReader) value(depth int) (any, error) {
	if depth > maxNesting {
		return nil, errors.New("it is nested too deeply")
	}
	l.blanks()
	defer l.blanks()
	if l.at == len(l.text) {
		return nil, l.unexpected("a value")
	}
	switch c := l.text[l.at]; {
	case l.take('('):
		return l.parenthesis(depth + 1)
	case l.take('{'):
		return l.dict(depth + 1)
	case c == '\'' || c == '"':
		return l.string(c)
	case l.take('-'):
		return l.number(-1)
	case l.take('+'):
		return l.number(1)
	}
	return l.number(1)
}

func (l *pythonReader) parenthesis(depth int) (any, error) {
	if l.take(')') {
		return pyTuple{}, nil
	}
	value, err := l.list(depth)
	if err == nil && !l.take(')') {
		err = l.unexpected(`"," or ")"`)
	}
	return value, err
}

func (l *pythonReader) dict(depth int) (any, error) {
	dict := pyDict{}
	for !l.take('}') {
		key, err := l.value(depth)
		if err != nil {
			return nil, err
		}
		if !l.take(':') {
			return nil, l.unexpected(`":"`)
		}
		value, err := l.value(depth)
		if err != nil {
			return nil, err
		}
		dict = append(dict, pyItem{key, value})
		if !l.take(',') {
			if l.take('}') {
				break
			}
			return nil, l.unexpected(`"," or "}"`)
		}
	}
	return dict, nil
}

func (l *pythonReader) string(quote byte) (any, error) {
	length := strings.IndexByte(l.text[l.at+1:], quote)
	if length < 0 {
		return nil, fmt.Errorf("at character %d: the string does not end", l.at+1)
	}
	s := l.text[l.at+1 : l.at+1+length]
	if strings.ContainsAny(s, "\\\n\r") {
		return nil, fmt.Errorf("at character %d: the string holds a backslash or a new line", l.at+1)
	}
	l.at += length + 2
	return s, nil
}

var (
	// numberLike matches text that may be a number, for strconv to judge.
	numberLike = regexp.MustCompile(`^[0-9.](?:[eE][+-]|[\w.])*`)
	// octalByZero is a number such as 012, which is octal to Go and an error to Python.
	octalByZero = regexp.MustCompile(`^0[0_]*[1-9]`)
)

// number is an integer in any of Python's bases, or a float.
func (l *pythonReader) number(sign int64) (any, error) {
	digits := numberLike.FindString(l.text[l.at:])
	n, err := strconv.ParseInt(digits, 0, 64)
	if err == nil && (n == 0 || !octalByZero.MatchString(digits)) {
		l.at += len(digits)
		return sign * n, nil
	}
	if strings.ContainsAny(digits, ".eE") {
		if f, ok := ParseFloat(digits); ok {
			l.at += len(digits)
			return float64(sign) * f, nil
		}
	}
	return nil, l.unexpected("a number, a string, a tuple or a dict")
}

// ParseFloat accepts what float() of Python accepts in ASCII: blanks around, underscores between digits, inf and nan,
// but no hexadecimal.
func ParseFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "xXpP") || misplaced.MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange) // out of range is infinite, in Python too
}

// misplaced is an underscore that does not stand between digits.
var misplaced = regexp.MustCompile(`(?:^|[^0-9])_|_(?:[^0-9]|$)`)
