package simulator

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// longestAudio is more than any context holds.
const longestAudio = 24 * time.Hour

// compressedBytes is about what a second of sound has in a compressed file.
const compressedBytes = 16000

// audioLength returns the duration of the sound in a file: by the header of WAV and FLAC, and otherwise estimated from
// the size.
func audioLength(file []byte) (time.Duration, error) {
	seconds, err := 0.0, error(nil)
	switch {
	case len(file) >= 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WAVE":
		seconds, err = wavSeconds(file[12:])
	case bytes.HasPrefix(file, []byte("fLaC")):
		seconds, err = flacSeconds(file[4:])
	default:
		seconds = float64(len(file)) / compressedBytes
	}
	if err == nil && (math.IsNaN(seconds) || seconds <= 0) {
		err = errors.New("no audio samples")
	}
	return time.Duration(min(seconds, longestAudio.Seconds()) * float64(time.Second)), err
}

// wavSeconds reads the chunks of a WAV file. A file that is shorter than its header says has what is there.
func wavSeconds(chunks []byte) (float64, error) {
	bytesPerSecond := uint32(0)
	for len(chunks) >= 8 {
		name, size := string(chunks[:4]), binary.LittleEndian.Uint32(chunks[4:])
		content := chunks[8:]
		content = content[:min(uint64(size), uint64(len(content)))]
		switch {
		case name == "fmt " && len(content) >= 16:
			bytesPerSecond = binary.LittleEndian.Uint32(content[8:])
		case name == "data" && bytesPerSecond == 0:
			return 0, errors.New("the data of the WAV file come before their format")
		case name == "data":
			return float64(len(content)) / float64(bytesPerSecond), nil
		}
		chunks = chunks[8+len(content):]
		if size%2 == 1 && len(chunks) > 0 {
			chunks = chunks[1:] // a pad
		}
	}
	return 0, errors.New("the WAV file has no data")
}

// flacSeconds reads the first block of a FLAC file, which has the number of samples and their rate.
func flacSeconds(block []byte) (float64, error) {
	const header, rateAt = 4, 10
	if len(block) < header+rateAt+8 || block[0]&0x7f != 0 {
		return 0, errors.New("the FLAC file has no stream information")
	}
	info := binary.BigEndian.Uint64(block[header+rateAt:]) // rate 20 bits, channels 3, bits of a sample 5, samples 36
	rate, samples := info>>44, info&(1<<36-1)
	if rate == 0 {
		return 0, errors.New("the FLAC file has no rate")
	}
	return float64(samples) / float64(rate), nil
}
