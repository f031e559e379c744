package loadgen

import (
	"bytes"
	"errors"
)

// maxEvent bounds one stream event, so that a server that never ends a line cannot take all memory.
const maxEvent = 16 << 20

var errEventTooLong = errors.New("a stream event is longer than 16 MiB")

// sseParser cuts a byte stream into server-sent events by the rules of the HTML standard: lines end in CR LF, LF or CR,
// a colon starts a comment, several data lines are joined by a newline, an empty line ends the event. An event without one
// at the end of the stream is dropped unless it is flushed. The events do not depend on how the bytes are split into pieces.
// The zero value is ready; reset makes it so again and keeps the buffers.
type sseParser struct {
	line    []byte // a line whose end has not come yet
	data    []byte // the data lines of the event so far
	name    []byte // its event field
	hasData bool
	skipLF  bool // the last byte was a CR that ended a line: a LF now belongs to it
	begun   bool // past a possible byte order mark
}

func (p *sseParser) reset() {
	*p = sseParser{line: p.line[:0], data: p.data[:0], name: p.name[:0]}
}

// feed reads a piece of the stream and calls emit for each event that ends in it. name and data are valid only during
// the call. An error of emit ends the parsing and is returned.
func (p *sseParser) feed(piece []byte, emit func(name, data []byte) error) error {
	for len(piece) > 0 {
		if p.skipLF {
			p.skipLF = false
			if piece[0] == '\n' {
				piece = piece[1:]
				continue
			}
		}
		end := bytes.IndexByte(piece, '\n')
		if cr := bytes.IndexByte(piece[:max(end, 0)], '\r'); cr >= 0 {
			end = cr
		} else if end < 0 {
			end = bytes.IndexByte(piece, '\r')
		}
		if end < 0 {
			if len(p.line)+len(piece) > maxEvent {
				return errEventTooLong
			}
			p.line = append(p.line, piece...)
			return nil
		}
		p.skipLF = piece[end] == '\r'
		line := piece[:end]
		if len(p.line) > 0 {
			p.line = append(p.line, line...)
			line = p.line
		}
		piece = piece[end+1:]
		if err := p.endLine(line, emit); err != nil {
			return err
		}
		p.line = p.line[:0]
	}
	return nil
}

// flush emits the event that the end of a complete body cut off before its blank line.
func (p *sseParser) flush(emit func(name, data []byte) error) error {
	if len(p.line) > 0 {
		if err := p.endLine(p.line, emit); err != nil {
			return err
		}
		p.line = p.line[:0]
	}
	return p.dispatch(emit)
}

var byteOrderMark = []byte("\ufeff")

func (p *sseParser) endLine(line []byte, emit func(name, data []byte) error) error {
	if !p.begun {
		p.begun = true
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if len(line) == 0 {
		return p.dispatch(emit)
	}
	field, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(field) {
	case "data":
		if len(p.data)+len(value) > maxEvent {
			return errEventTooLong
		}
		if p.hasData {
			p.data = append(p.data, '\n')
		}
		p.data = append(p.data, value...)
		p.hasData = true
	case "event":
		p.name = append(p.name[:0], value...)
	}
	return nil
}

func (p *sseParser) dispatch(emit func(name, data []byte) error) error {
	var err error
	if p.hasData {
		err = emit(p.name, p.data)
	}
	p.data, p.name, p.hasData = p.data[:0], p.name[:0], false
	return err
}
