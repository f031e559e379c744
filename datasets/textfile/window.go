package textfile

import (
	"errors"
	"io"
)

// Window reads parts of a file, and ahead of them, as parts that follow each other are often wanted.
type Window struct {
	File   io.ReaderAt
	buffer []byte
	from   int64 // offset of the buffer
}

// readAhead is how many bytes are read at once.
const readAhead = 1 << 16

// Bytes are those of the file from start to end, good until the next call.
func (w *Window) Bytes(start, end int64) ([]byte, error) {
	if start < w.from || end > w.from+int64(len(w.buffer)) {
		length := max(int(end-start), readAhead)
		if cap(w.buffer) < length {
			w.buffer = make([]byte, length)
		}
		n, err := w.File.ReadAt(w.buffer[:length], start)
		if w.buffer, w.from = w.buffer[:n], start; n < int(end-start) {
			if errors.Is(err, io.EOF) {
				err = errors.New("the file has become shorter since it was opened")
			}
			return nil, err
		}
	}
	return w.buffer[start-w.from : end-w.from], nil
}
