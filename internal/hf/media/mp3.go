package media

import (
	"bytes"
	"encoding/binary"
	"time"
)

// mpegFrame is the header of a frame of MPEG audio.
type mpegFrame struct {
	version, layer int // version 0 is MPEG 2.5, 2 MPEG 2, 3 MPEG 1; the layer counts from 1
	rate           int // samples a second
	mono           bool
	bytes, samples int
}

// The bit rates in kbit/s of MPEG 1 by layer, and of its successors for layer 1 and for the others.
var mpegBitRates = [5][16]int{
	{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

const mpeg1 = 3

// readFrame reads the header at the beginning of data.
func readFrame(data []byte) (f mpegFrame, ok bool) {
	if len(data) < 4 || data[0] != 0xff || data[1]&0xe0 != 0xe0 {
		return f, false
	}
	f.version, f.layer, f.mono = int(data[1]>>3&3), 4-int(data[1]>>1&3), data[3]>>6 == 3
	rate := int(data[2] >> 2 & 3)
	if f.version == 1 || f.layer == 4 || rate == 3 {
		return f, false
	}
	f.rate = [3]int{44100, 48000, 32000}[rate]
	table := f.layer - 1
	if f.version != mpeg1 {
		f.rate /= 2
		table = min(3+table, 4)
	}
	if f.version == 0 {
		f.rate /= 2
	}
	bits := mpegBitRates[table][data[2]>>4] * 1000
	if bits == 0 {
		return f, false
	}
	padding := int(data[2] >> 1 & 1)
	f.samples = 1152
	switch {
	case f.layer == 1:
		f.samples, f.bytes = 384, (12*bits/f.rate+padding)*4
		return f, true
	case f.layer == 3 && f.version != mpeg1:
		f.samples = 576
	}
	f.bytes = f.samples/8*bits/f.rate + padding
	return f, true
}

// nextFrame is the place of the next frame like another, at most so many bytes away; -1 for none.
func nextFrame(data []byte, from, within int, like mpegFrame) int {
	for at := from; at < min(from+within, len(data)); at++ {
		if f, ok := readFrame(data[at:]); ok && f.like(like) {
			return at
		}
	}
	return -1
}

func (f mpegFrame) like(g mpegFrame) bool {
	return f.version == g.version && f.layer == g.layer && f.rate == g.rate
}

// mp3Start is the place of the first frame, which another follows unless it is the only one; -1 for none.
func mp3Start(data []byte) int {
	const leader = 1 << 16 // bytes that may stand before it
	for at := range min(leader, len(data)) {
		first, ok := readFrame(data[at:])
		if !ok {
			continue
		}
		end := at + first.bytes
		if end == len(data) {
			return at
		}
		if second, ok := readFrame(data[min(end, len(data)):]); ok && second.like(first) {
			return at
		}
	}
	return -1
}

// mp3Length counts the frames, which is exact for any bit rate. The first may tell of the encoder instead of holding
// sound.
func mp3Length(data []byte) (time.Duration, error) {
	const gap = 1024 // bytes that may stand between two frames
	start := mp3Start(data)
	first, _ := readFrame(data[start:])
	informs, silence := first.encoder(data[start:])
	samples := 0
	for at := start; at >= 0; {
		f, _ := readFrame(data[at:])
		if at+f.bytes > len(data) {
			break
		}
		samples += f.samples
		at = nextFrame(data, at+f.bytes, gap, first)
	}
	if informs {
		samples -= first.samples
	}
	return lengthOf(uint64(max(0, samples-silence)), uint64(first.rate))
}

// encoder reports whether a frame tells of the encoder, and how many samples that put before and behind the sound.
func (f mpegFrame) encoder(frame []byte) (informs bool, silence int) {
	side := 32
	switch {
	case f.version == mpeg1 && f.mono, f.version != mpeg1 && !f.mono:
		side = 17
	case f.version != mpeg1:
		side = 9
	}
	frame = frame[:min(f.bytes, len(frame))]
	if len(frame) >= 40 && string(frame[36:40]) == "VBRI" {
		return true, 0
	}
	tag := frame[min(4+side, len(frame)):]
	if len(tag) < 8 || !bytes.HasPrefix(tag, []byte("Xing")) && !bytes.HasPrefix(tag, []byte("Info")) {
		return false, 0
	}
	flags, at := binary.BigEndian.Uint32(tag[4:]), 8
	for i, size := range []int{4, 4, 100, 4} { // frames, bytes, places to jump to, quality
		if flags>>i&1 != 0 {
			at += size
		}
	}
	const delays = 21 // behind the encoder's name and settings: two numbers of 12 bits
	if len(tag) < at+delays+3 {
		return true, 0
	}
	b := tag[at+delays:]
	return true, int(b[0])<<4 + int(b[1]>>4) + int(b[1]&0xf)<<8 + int(b[2])
}
