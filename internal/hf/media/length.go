package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
)

var errCutOff = errors.New("is cut off in its header")

// withoutID3 is a file behind the ID3 tags that may stand before a recording.
func withoutID3(data []byte) []byte {
	for len(data) >= 10 && string(data[:3]) == "ID3" {
		size := 10
		for i, b := range data[6:10] {
			size += int(b&0x7f) << (21 - 7*i)
		}
		if data[5]&0x10 != 0 {
			size += 10 // a footer
		}
		data = data[min(size, len(data)):]
	}
	return data
}

// flacLength is by the block STREAMINFO, which comes first.
func flacLength(data []byte) (time.Duration, error) {
	if len(data) < 26 || data[4]&0x7f != 0 {
		return 0, errCutOff
	}
	packed := binary.BigEndian.Uint64(data[18:]) // 20 bits of rate, 3 of channels, 5 of width, 36 of samples
	return lengthOf(packed&(1<<36-1), packed>>44)
}

// oggStream is a stream of sound in an Ogg file.
type oggStream struct {
	rate, skip uint64
	end        uint64 // position in samples of the last page
}

// oggLength adds up the streams that follow each other.
func oggLength(data []byte) (all time.Duration, err error) {
	var streams []*oggStream
	current := map[uint32]*oggStream{} // by their serial numbers; one that is not of sound is nil
	for head, body, rest := oggPage(data); head != nil; head, body, rest = oggPage(rest) {
		flags, position := head[5], binary.LittleEndian.Uint64(head[6:])
		serial := binary.LittleEndian.Uint32(head[14:])
		if flags&2 != 0 { // a stream begins
			if current[serial] = oggHead(body); current[serial] != nil {
				streams = append(streams, current[serial])
			}
		} else if s := current[serial]; s != nil && position != ^uint64(0) {
			// a page in which no packet ends has no position
			s.end = position
		}
	}
	if len(streams) == 0 {
		return 0, errors.New("holds neither Vorbis nor Opus nor FLAC")
	}
	for _, s := range streams {
		length, err := lengthOf(max(s.end, s.skip)-s.skip, s.rate)
		if all += length; all >= maxAudio {
			err = errors.New("lasts more than a day")
		}
		if err != nil {
			return 0, err
		}
	}
	return all, nil
}

// oggPage cuts off the first page, whose head is nil where there is none. The body of the last one may be cut short.
func oggPage(data []byte) (head, body, rest []byte) {
	if len(data) < 27 || string(data[:4]) != "OggS" {
		return nil, nil, nil
	}
	from := 27 + int(data[26])
	if from > len(data) {
		return nil, nil, nil
	}
	to := from
	for _, n := range data[27:from] {
		to += int(n)
	}
	to = min(to, len(data))
	return data[:from], data[from:to], data[to:]
}

// oggHead reads the first packet of a stream; nil if it is not of sound.
func oggHead(packet []byte) *oggStream {
	le := binary.LittleEndian
	switch {
	case bytes.HasPrefix(packet, []byte("\x01vorbis")) && len(packet) >= 16:
		return &oggStream{rate: uint64(le.Uint32(packet[12:]))}
	case bytes.HasPrefix(packet, []byte("OpusHead")) && len(packet) >= 12:
		return &oggStream{rate: 48000, skip: uint64(le.Uint16(packet[10:]))}
	case bytes.HasPrefix(packet, []byte("\x7fFLAC")) && len(packet) >= 9+26:
		return &oggStream{rate: binary.BigEndian.Uint64(packet[9+18:]) >> 44}
	}
	return nil
}

// mp4Length is by the header of the movie.
func mp4Length(data []byte) (time.Duration, error) {
	header := box(box(data, "moov"), "mvhd")
	be := binary.BigEndian
	switch {
	case len(header) >= 20 && header[0] == 0:
		return lengthOf(uint64(be.Uint32(header[16:])), uint64(be.Uint32(header[12:])))
	case len(header) >= 32 && header[0] == 1:
		return lengthOf(be.Uint64(header[24:]), uint64(be.Uint32(header[20:])))
	}
	return 0, errors.New("has no header with its length")
}

// box is the content of the first box of a name, nil for none.
func box(data []byte, name string) []byte {
	be := binary.BigEndian
	for len(data) >= 8 {
		size, head := uint64(be.Uint32(data)), uint64(8)
		switch {
		case size == 0: // up to the end
			size = uint64(len(data))
		case size == 1 && len(data) >= 16:
			size, head = be.Uint64(data[8:]), 16
		}
		if size < head || size > uint64(len(data)) {
			return nil
		}
		if string(data[4:8]) == name {
			return data[head:size]
		}
		data = data[size:]
	}
	return nil
}
