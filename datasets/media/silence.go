package media

import (
	"encoding/binary"
	"time"
)

// Silence is a recording of silence: one channel of 16-bit PCM at 16 kHz, in a WAV file.
func Silence(length time.Duration) *Audio {
	const rate, sampleSize = 16000, 2
	size := int(length*rate/time.Second) * sampleSize
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(36+size))...)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // PCM
	b = binary.LittleEndian.AppendUint16(b, 1) // channel
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*sampleSize)
	b = binary.LittleEndian.AppendUint16(b, sampleSize)
	b = binary.LittleEndian.AppendUint16(b, 8*sampleSize)
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), uint32(size))
	return &Audio{Name: "silence.wav", Type: AudioType("silence.wav"), Data: append(b, make([]byte, size)...), Duration: length}
}
