package datasets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"time"

	"benchtop/datasets/textfile"
	"benchtop/datasets/trace"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/jsonscan"
)

const maxTraceKeys = 1 << 30 // bytes of hash ids kept

// hashTrace is the part of a file that is kept.
type hashTrace struct {
	o      timedTrace
	lines  []traceLine
	hashes []byte // of all lines, one after the other: the length of each as a varint, and its text
	hashed bool   // some line has hash ids
	// tokens that a hash id would have to stand for, so that they suffice for the lines that are short; 0 if none are
	chunk  int
	short  int    // lines whose prompts come out shorter than the trace says
	fields string // of the first line, to be named where hash ids were expected
}

type traceLine struct {
	at            time.Duration
	input, output int32
	hashes        int // where its hash ids begin
}

// hashIDs is the part of t.hashes that belongs to line i.
func (t *hashTrace) hashIDs(i int) []byte {
	end := len(t.hashes)
	if i+1 < len(t.lines) {
		end = t.lines[i+1].hashes
	}
	return t.hashes[t.lines[i].hashes:end]
}

// readTrace reads the first lines of a trace, as many as there are to be prompts. It keeps the lengths, time and hash
// ids of each.
func readTrace(r io.Reader, o timedTrace) (*hashTrace, error) {
	lines, err := textfile.NewJSONLines(r)
	if err != nil {
		return nil, err
	}
	t := &hashTrace{o: o}
	for len(t.lines) < o.Prompts {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := t.take(line); err != nil {
			return nil, textfile.AtLine(lines.Number, err)
		}
	}
	switch {
	case len(t.lines) == 0:
		return nil, fmt.Errorf("the file is empty; %s", t.form())
	case !t.hashed:
		return nil, fmt.Errorf(
			"no line has hash ids in a field %q, so all prompts would be empty; the fields of the first are %s; "+
				"name the right one with --timed-trace-label-hash-ids", o.Labels.HashIDs, t.fields)
	}
	return t, nil
}

// form describes a line.
func (t *hashTrace) form() string {
	l := t.o.Labels
	return fmt.Sprintf("expected an object on each line, with %q, %q, %q and %q", l.Timestamp, l.InputLength,
		l.OutputLength, l.HashIDs)
}

// take adds a line to the trace.
func (t *hashTrace) take(line []byte) error {
	labels := t.o.Labels
	fields := jsonscan.Fields(line, labels.Timestamp, labels.InputLength, labels.OutputLength, labels.HashIDs)
	if t.fields == "" {
		t.fields = fieldNames(line)
	}
	next, err := t.lengths(fields)
	if missing, ok := errors.AsType[missingField](err); ok {
		return fmt.Errorf("%w; the fields are %s; name the right one with --timed-trace-label-…", missing,
			fieldNames(line))
	}
	if err != nil {
		return err
	}
	next.hashes = len(t.hashes)
	blocks, err := t.keepHashes(fields[3], int(next.input))
	if err != nil {
		return inField(labels.HashIDs, err)
	}
	if len(t.hashes) > maxTraceKeys {
		return fmt.Errorf("more than %d MiB of hash ids; ask for fewer prompts", maxTraceKeys>>20)
	}
	if blocks*t.o.ChunkSize < int(next.input) {
		t.short++
		if blocks > 0 {
			t.chunk = max(t.chunk, (int(next.input)+blocks-1)/blocks)
		}
	}
	t.lines = append(t.lines, next)
	return nil
}

// missingField is the error for a field that is not there.
type missingField string

func (m missingField) Error() string { return fmt.Sprintf("there is no field %q", string(m)) }

// fieldNames lists the fields of an object, or the first of very many.
func fieldNames(object []byte) string {
	var names []string
	for name := range jsonscan.Members(object) {
		names = append(names, jsonscan.Text(name))
	}
	return textfile.Names(names)
}

// keepHashes keeps as many hash ids as a prompt of so many tokens takes, as Python would print them, and returns how
// many. vLLM does not look at the rest either.
func (t *hashTrace) keepHashes(array []byte, tokens int) (blocks int, err error) {
	if array == nil {
		return 0, nil // vLLM makes an empty prompt of it
	}
	if array[0] != '[' {
		return 0, fmt.Errorf("expected an array: got %s", jsonscan.Kind(array))
	}
	t.hashed = true
	for element := range jsonscan.Elements(array) {
		if blocks*t.o.ChunkSize >= tokens {
			break
		}
		text, err := hashID(element)
		if err != nil {
			return 0, err
		}
		t.hashes = binary.AppendUvarint(t.hashes, uint64(len(text)))
		t.hashes = append(t.hashes, text...)
		blocks++
	}
	return blocks, nil
}

const (
	// maxHeldBlocks bounds the blocks kept for reuse, in tokens: 16 MiB.
	maxHeldBlocks = 1 << 21
	// blockOverhead is what a block costs besides its tokens, in tokens.
	blockOverhead = 16
)

// traceBlocks makes the tokens behind the hash ids of a trace. Equal hash ids give equal tokens, so that a server's
// prefix cache meets what it met when the trace was recorded.
type traceBlocks struct {
	vocabulary []int // ids to choose from, ascending
	py         *numpy.Python
	made       map[string][]int // by key; all of them can be made again
	held       int              // tokens in made, with what each block costs besides
}

func newTraceBlocks(vocabulary []int) *traceBlocks {
	return &traceBlocks{vocabulary: vocabulary, py: numpy.NewPython(0), made: map[string][]int{}}
}

// block returns the tokens of a hash id, in a block of that size. The caller must not change them. They are drawn by a
// generator that Python's hash of both seeds, with the salt that PYTHONHASHSEED=0 makes: without that variable vLLM
// salts each run anew, and the tokens differ between runs.
func (b *traceBlocks) block(hashID []byte, size int) []int {
	key := append(hashID[:len(hashID):len(hashID)], ':')
	key = strconv.AppendInt(key, int64(size), 10)
	if tokens, ok := b.made[string(key)]; ok {
		return tokens
	}
	b.py.Seed(int64(uint32(pythonHash(string(key)))))
	tokens := b.py.Choices(len(b.vocabulary), size)
	for i, index := range tokens {
		tokens[i] = b.vocabulary[index]
	}
	if b.held += size + blockOverhead; b.held > maxHeldBlocks {
		clear(b.made)
		b.held = size + blockOverhead
	}
	b.made[string(key)] = tokens
	return tokens
}

// lengths reads the fields of a line that are numbers.
func (t *hashTrace) lengths(fields [][]byte) (line traceLine, err error) {
	label := t.o.Labels.Timestamp
	if line.at, err = traceTime(fields[0], t.o.Multiplier); err == nil {
		label = t.o.Labels.InputLength
		line.input, err = traceLength(fields[1], 0)
	}
	if err == nil {
		label = t.o.Labels.OutputLength
		line.output, err = traceLength(fields[2], 1)
	}
	return line, inField(label, err)
}

var errNoField = errors.New("missing")

// inField names the field that an error is about.
func inField(name string, err error) error {
	if errors.Is(err, errNoField) {
		return missingField(name)
	}
	return within(fmt.Sprintf("field %q", name), err)
}

// traceNumber reads a number, in doubles as Python multiplies them.
func traceNumber(raw []byte) (float64, error) {
	if raw == nil {
		return 0, errNoField
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if kind := jsonscan.Kind(raw); kind != "a number" {
		return 0, fmt.Errorf("expected a number: got %s", kind)
	}
	if err != nil {
		return 0, fmt.Errorf("the number is too large: got %s", textfile.Value(raw))
	}
	return f, nil
}

// traceTime reads a time stamp as an offset from the start of the run; a larger one than that of the longest run counts
// from another start, such as 1970. It may be negative, as it may be smaller than the one before: such a request starts
// at once.
func traceTime(raw []byte, multiplier float64) (time.Duration, error) {
	f, err := traceNumber(raw)
	if err != nil {
		return 0, err
	}
	seconds := f * multiplier
	if !(math.Abs(seconds) <= trace.Longest.Seconds()) {
		return 0, fmt.Errorf(
			"%s is %.4g s from the start of the run, more than a year; time stamps count from the start of the run, "+
				"and milliseconds want --timed-trace-sec-multiplier 0.001", textfile.Value(raw), seconds)
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), nil
}

// traceLength reads a length in tokens.
func traceLength(raw []byte, least int) (int32, error) {
	if _, err := traceNumber(raw); err != nil {
		return 0, err
	}
	n, err := trace.Length(raw, least)
	return int32(n), err
}

// maxHashDigits is Python's own bound on integers in text.
const maxHashDigits = 4300

// hashID is a hash id as Python prints it: an integer of any size, or a string.
func hashID(raw []byte) ([]byte, error) {
	switch jsonscan.Kind(raw) {
	case "a string":
		text, err := jsonscan.WholeText(raw)
		return []byte(text), err
	case "a number":
		if bytes.ContainsAny(raw, ".eE") || len(raw) > maxHashDigits {
			break
		}
		if string(raw) == "-0" {
			return raw[1:], nil
		}
		return raw, nil
	}
	return nil, fmt.Errorf("expected hash ids to be integers or strings: got %s", textfile.Value(raw))
}

// sipHash is a keyed hash of short inputs, by Aumasson and Bernstein ("SipHash: a fast short-input PRF", 2012). It
// makes the given number of rounds for each word of data and at the end; the paper's are 2 and 4, Python's 1 and 3.
func sipHash(k0, k1 uint64, rounds, finalRounds int, data []byte) uint64 {
	s := sipState{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	var last [8]byte // the remaining bytes, and the length modulo 256
	last[7] = byte(len(data))
	for ; len(data) >= 8; data = data[8:] {
		s.word(binary.LittleEndian.Uint64(data), rounds)
	}
	copy(last[:7], data)
	s.word(binary.LittleEndian.Uint64(last[:]), rounds)
	s[2] ^= 0xff
	s.stir(finalRounds)
	return s[0] ^ s[1] ^ s[2] ^ s[3]
}

type sipState [4]uint64

func (s *sipState) word(w uint64, rounds int) {
	s[3] ^= w
	s.stir(rounds)
	s[0] ^= w
}

func (s *sipState) stir(rounds int) {
	v0, v1, v2, v3 := s[0], s[1], s[2], s[3]
	for range rounds {
		v0 += v1
		v1 = bits.RotateLeft64(v1, 13) ^ v0
		v0 = bits.RotateLeft64(v0, 32)
		v2 += v3
		v3 = bits.RotateLeft64(v3, 16) ^ v2
		v0 += v3
		v3 = bits.RotateLeft64(v3, 21) ^ v0
		v2 += v1
		v1 = bits.RotateLeft64(v1, 17) ^ v2
		v2 = bits.RotateLeft64(v2, 32)
	}
	*s = sipState{v0, v1, v2, v3}
}

// pythonHash is hash(text) of CPython 3.11 and later under PYTHONHASHSEED=0.
func pythonHash(text string) int64 {
	if text == "" {
		return 0
	}
	h := int64(sipHash(0, 0, 1, 3, pythonBytes(text)))
	if h == -1 {
		return -2 // -1 is how hash functions report errors in C
	}
	return h
}

// pythonBytes is how CPython keeps a text in memory: with one, two or four bytes a character, the fewest that hold the
// largest one.
func pythonBytes(text string) []byte {
	largest := rune(0)
	for _, r := range text {
		largest = max(largest, r)
	}
	data := make([]byte, 0, len(text))
	for _, r := range text {
		switch {
		case largest <= 0xff:
			data = append(data, byte(r))
		case largest <= 0xffff:
			data = binary.LittleEndian.AppendUint16(data, uint16(r))
		default:
			data = binary.LittleEndian.AppendUint32(data, uint32(r))
		}
	}
	return data
}
