package media

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

const wavType = "audio/wav"

// The codes of sample formats in a WAV file.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavALaw       = 6
	wavMuLaw      = 7
	wavExtensible = 0xfffe // the code stands in the first bytes of the extension
)

// wav is a WAV file, taken apart. Its channels are interleaved.
type wav struct {
	code, channels int
	rate           uint32
	width          int // bytes of a sample
	samples        []byte
}

func parseWAV(data []byte) (w wav, err error) {
	if len(data) < 12 || string(data[8:12]) != "WAVE" {
		return w, errors.New("is cut off, or holds something else than sound")
	}
	for rest := data[12:]; len(rest) >= 8; {
		name, size := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:8]))
		rest = rest[8:]
		chunk := rest[:min(size, uint64(len(rest)))] // a stream that was saved gives no size, and a file may be cut off
		switch name {
		case "fmt ":
			if err := w.format(chunk); err != nil {
				return w, err
			}
		case "data":
			if w.channels == 0 {
				return w, errors.New("gives no format before its samples")
			}
			w.samples = chunk[:len(chunk)-len(chunk)%(w.channels*w.width)]
			return w, nil
		}
		rest = rest[min(size+size%2, uint64(len(rest))):]
	}
	return w, errors.New("has no samples")
}

func (w *wav) format(chunk []byte) error {
	if len(chunk) < 16 {
		return errors.New("is cut off in its header")
	}
	field := func(at int) int { return int(binary.LittleEndian.Uint16(chunk[at:])) }
	w.code, w.channels, w.rate = field(0), field(2), binary.LittleEndian.Uint32(chunk[4:])
	if w.code == wavExtensible && len(chunk) >= 26 {
		w.code = field(24)
	}
	if w.channels == 0 || field(12)%w.channels != 0 {
		return fmt.Errorf("has %d channels in %d bytes", w.channels, field(12))
	}
	w.width = field(12) / w.channels
	if w.decoder() == nil {
		return fmt.Errorf("has samples of format %d with %d bits, which are not supported; convert it with ffmpeg -i "+
			"FILE -c:a pcm_s16le FILE.wav", w.code, field(14))
	}
	return nil
}

// decoder turns the bytes of a sample into a number from -1 to 1; nil for a format that is not known.
func (w *wav) decoder() func(b []byte) float64 {
	le := binary.LittleEndian
	return map[[2]int]func(b []byte) float64{
		{wavPCM, 1}:   func(b []byte) float64 { return (float64(b[0]) - 0x80) / 0x80 },
		{wavPCM, 2}:   func(b []byte) float64 { return float64(int16(le.Uint16(b))) / 0x8000 },
		{wavPCM, 3}:   func(b []byte) float64 { return float64(int32(le.Uint16(b))<<8|int32(b[2])<<24) / 0x80000000 },
		{wavPCM, 4}:   func(b []byte) float64 { return float64(int32(le.Uint32(b))) / 0x80000000 },
		{wavFloat, 4}: func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) },
		{wavFloat, 8}: func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) },
		{wavALaw, 1}:  func(b []byte) float64 { return float64(aLaw(b[0])) / 0x8000 },
		{wavMuLaw, 1}: func(b []byte) float64 { return float64(muLaw(b[0])) / 0x8000 },
	}[[2]int{w.code, w.width}]
}

// aLaw is a sample of ITU-T G.711's A-law, scaled to 16 bits.
func aLaw(b byte) int {
	b ^= 0x55
	v, segment := int(b&0x0f)<<4+8, b>>4&7
	if segment > 0 {
		v = (v + 0x100) << (segment - 1)
	}
	if b&0x80 == 0 {
		return -v
	}
	return v
}

// muLaw is a sample of ITU-T G.711's µ-law, scaled to 16 bits.
func muLaw(b byte) int {
	b = ^b
	v := (int(b&0x0f)<<3+0x84)<<(b>>4&7) - 0x84
	if b&0x80 != 0 {
		return -v
	}
	return v
}

// audio is the recording as WAV of 16 bits.
func (w *wav) audio() (*Audio, error) {
	decode, n := w.decoder(), len(w.samples)/w.width
	a, err := newWAV(n, w.channels, w.rate, func(i int) float64 { return decode(w.samples[i*w.width:]) })
	return a, within("WAV", err)
}

// PCM is a recording of samples from -1 to 1, with interleaved channels, as vLLM's client writes it: WAV of 16 bits.
// Louder samples are clipped.
func PCM(samples []float64, channels int, rate uint32) (*Audio, error) {
	a, err := newWAV(len(samples), channels, rate, func(i int) float64 { return samples[i] })
	if err != nil {
		return nil, fmt.Errorf("the recording %w", err)
	}
	return a, nil
}

// Silence is a recording of a length above 0 without a sound, of 16,000 samples a second.
func Silence(length time.Duration) *Audio {
	const rate = 16000
	a, err := PCM(make([]float64, int(length*rate/time.Second)), 1, rate)
	if err != nil {
		panic(err) // a length that no caller asks for
	}
	return a
}

// newWAV makes a WAV file of n samples.
func newWAV(n, channels int, rate uint32, sample func(int) float64) (*Audio, error) {
	const header = 44
	length, err := lengthOf(uint64(n/channels), uint64(rate))
	if err != nil {
		return nil, err
	}
	le, block := binary.LittleEndian, 2*channels
	b := make([]byte, 0, header+2*n)
	b = le.AppendUint32(append(b, "RIFF"...), uint32(header-8+2*n))
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(le.AppendUint16(b, wavPCM), uint16(channels))
	b = le.AppendUint32(le.AppendUint32(b, rate), rate*uint32(block))
	b = le.AppendUint16(le.AppendUint16(b, uint16(block)), 16)
	b = le.AppendUint32(append(b, "data"...), uint32(2*n))
	for i := range n {
		v := sample(i)
		if math.IsNaN(v) {
			return nil, fmt.Errorf("holds a sample that is not a number (sample %d)", i+1)
		}
		b = le.AppendUint16(b, uint16(quantize(v)))
	}
	return &Audio{"audio.wav", wavType, b, length}, nil
}

// quantize is a sample in 16 bits as libsndfile has it, which vLLM's client writes with: the upper half of 32 bits.
func quantize(v float64) int16 {
	scaled := math.RoundToEven(v * (1 << 31))
	return int16(int32(max(math.MinInt32, min(math.MaxInt32, scaled))) >> 16)
}
