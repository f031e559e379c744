package loadgen

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

var errEventTooLong = errors.New("too long")

const (
	errorName = "error"
	strayName = "\n" // which no event can have
)

// sseParser cuts a byte stream into server-sent events by the rules of the HTML standard: lines end in CR LF, LF or CR,
// a colon starts a comment, several data lines are joined by a newline, an empty line ends the event. An event without
// one at the end of the stream is dropped unless it is flushed. The events do not depend on how the bytes are split
// into pieces. Beyond the standard, whatever can be a server's error is emitted: a field error as an event of that
// name, such an event without data, and a JSON object or a list of them outside of any field as one named strayName.
// The zero value is ready; reset makes it so again and keeps the buffers.
type sseParser struct {
	most    int    // bytes of an event, if more than eventLeast
	lines   bool   // each line is the data of an event of its own: newline-delimited JSON
	line    []byte // the beginning of an incomplete line
	data    []byte // the data lines of the event so far
	name    []byte // its event field
	stray   []byte // lines that are no field, from the beginning of a JSON object on
	hasData bool
	skipLF  bool // the last byte was a CR that ended a line: an LF after it belongs to it
	begun   bool // past a possible byte order mark
}

func (p *sseParser) reset() {
	*p = sseParser{line: p.line[:0], data: p.data[:0], name: p.name[:0], stray: p.stray[:0]}
}

// held is the memory of the buffers in bytes.
func (p *sseParser) held() int { return cap(p.line) + cap(p.data) + cap(p.name) + cap(p.stray) }

// shrink drops buffers that are larger than most.
func (p *sseParser) shrink(most int) {
	p.line, p.data, p.name, p.stray = shrunk(p.line, most), shrunk(p.data, most), shrunk(p.name, most),
		shrunk(p.stray, most)
}

// check is an error if an event may not have so many bytes.
func (p *sseParser) check(size int) error {
	if most := max(p.most, eventLeast); size > most {
		return fmt.Errorf("a stream event is %w: it has more than %d bytes, which is the most for what was asked for",
			errEventTooLong, most)
	}
	return nil
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
			if err := p.check(len(p.line) + len(piece)); err != nil {
				return err
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

// flush emits the last event of a complete body that ends without a blank line.
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
	if p.lines {
		return emit(nil, line)
	}
	return p.endField(line, emit)
}

// endField takes a line that is not empty.
func (p *sseParser) endField(line []byte, emit func(name, data []byte) error) error {
	field, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(field) {
	case "data":
		if err := p.check(len(p.data) + len(value)); err != nil {
			return err
		}
		if p.hasData {
			p.data = append(p.data, '\n')
		}
		p.data = append(p.data, value...)
		p.hasData = true
	case "event":
		p.name = append(p.name[:0], value...)
	case errorName:
		if err := p.dispatch(emit); err != nil {
			return err
		}
		return emit([]byte(errorName), value)
	case "", "id", "retry":
	default:
		opens := opensJSON(line)
		if opens && line[0] != ' ' && line[0] != '\t' && string(p.stray) != "[\n" { // another object
			if err := p.outside(emit); err != nil {
				return err
			}
		}
		if len(p.stray) == 0 && !opens {
			return nil
		}
		if err := p.check(len(p.stray) + len(line)); err != nil {
			return err
		}
		p.stray = append(append(p.stray, line...), '\n')
	}
	return nil
}

// opensJSON reports whether a line begins an object, or a list of them.
func opensJSON(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("{")) || bytes.HasPrefix(line, []byte("[{")) || string(line) == "["
}

// isError reports whether an event of the name is an error.
func isError(name []byte) bool {
	return strings.EqualFold(string(name), errorName) || strings.EqualFold(string(name), "exception")
}

func (p *sseParser) dispatch(emit func(name, data []byte) error) error {
	err := p.outside(emit)
	if err == nil && (p.hasData || isError(p.name)) {
		err = emit(p.name, p.data)
	}
	p.data, p.name, p.hasData = p.data[:0], p.name[:0], false
	return err
}

// outside emits the lines that are no field.
func (p *sseParser) outside(emit func(name, data []byte) error) error {
	if len(p.stray) == 0 {
		return nil
	}
	err := emit([]byte(strayName), p.stray)
	p.stray = p.stray[:0]
	return err
}
