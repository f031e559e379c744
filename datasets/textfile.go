package datasets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"benchtop/datasets/hub"
	"benchtop/datasets/jsonscan"
)

// lineError is an error at a line of a file, counted from 1.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// inFile says which file of which dataset an error is about, if there is one. A missing chat template is no fault of
// a file.
func inFile(dataset, path string, err error) error {
	if err == nil || errors.Is(err, ErrNoTemplate) {
		return err
	}
	return inDataset(dataset, atPath(path, err))
}

// atPath says which file an error is about.
func atPath(path string, err error) error {
	if _, ok := errors.AsType[*lineError](err); ok {
		return fmt.Errorf("%s, %w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// openFile opens a file to read, of a form such as "a CSV file". Errors leave the path out: the caller names it.
func openFile(path, form string) (*os.File, error) {
	open := os.Open
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		open = func(path string) (*os.File, error) { return openPipe(path, time.After(pipeWait)) }
	}
	file, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; give the path of %s", fs.ErrNotExist, form)
	}
	if err != nil {
		return nil, cause(err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close() // nothing was read
		return nil, fmt.Errorf("this is a directory; give the path of %s", form)
	}
	return file, nil
}

// readFile has a file of a form read. Errors leave the path out: the caller names it.
func readFile[T any](path, form string, read func(io.Reader) (T, error)) (content T, err error) {
	file, err := openFile(path, form)
	if err != nil {
		return content, err
	}
	defer file.Close()
	content, err = read(file)
	return content, cause(err)
}

// pipeWait is how long a pipe may have no program that writes to it.
const pipeWait = 10 * time.Second

// openPipe opens a pipe to read, which waits for a program that writes to it, until over.
func openPipe(path string, over <-chan time.Time) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.Open(path)
		opened <- result{file, err}
	}()
	select {
	case r := <-opened:
		return r.file, r.err
	case <-over:
	}
	// A pipe opened for both ends does not wait, and ends the wait above. Where that is not allowed, the wait is left to itself.
	if both, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
		r := <-opened
		_ = errors.Join(r.file.Close(), both.Close()) // nothing was read
	}
	return nil, errors.New("this is a pipe, and no program writes to it; start that program first, or give a file")
}

// cause drops the path from an error of the file system.
func cause(err error) error {
	if outer, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(outer, fs.ErrNotExist) {
		return fs.ErrNotExist // the same words on every system
	}
	return hub.PathCause(err)
}

// textReader passes UTF-8 text on and knows which line an offset in it is on. It remembers the line ends of text that has
// been read and not been asked about yet, so a file of any size costs it little.
type textReader struct {
	r      *bufio.Reader
	good   int     // bytes of r's buffer that are whole characters
	offset int64   // bytes passed on
	ends   []int64 // offsets of line ends at or behind the last offset asked about
	passed int     // line ends before that
}

// newTextReader skips a byte order mark and refuses archives and UTF-16.
func newTextReader(r io.Reader) (*textReader, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	head, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return nil, errors.New("this is a gzip archive; unpack it first, with gzip -d")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return nil, errors.New("this is a zip archive; unpack it first, with unzip")
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return nil, errors.New("this is a zstd archive; unpack it first, with zstd -d")
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return nil, errors.New("the text is UTF-16; convert it to UTF-8 first, with iconv -f UTF-16 -t UTF-8")
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = buffered.Discard(3) // they have just been seen
	}
	return &textReader{r: buffered}, nil
}

// Read passes on UTF-8, and fails with a lineError at other bytes.
func (t *textReader) Read(p []byte) (int, error) {
	if t.good == 0 {
		if err := t.check(); err != nil {
			return 0, err
		}
	}
	n, err := t.r.Read(p[:min(len(p), t.good)])
	t.good -= n
	for i := 0; ; i++ {
		end := bytes.IndexByte(p[i:n], '\n')
		if end < 0 {
			break
		}
		i += end
		t.ends = append(t.ends, t.offset+int64(i))
	}
	t.offset += int64(n)
	return n, err
}

// check counts the next bytes that are whole characters: at least one, unless there is an error.
func (t *textReader) check() error {
	_, err := t.r.Peek(utf8.UTFMax)
	next, _ := t.r.Peek(t.r.Buffered())
	switch t.good = validLen(next); {
	case t.good > 0:
		return nil
	case len(next) == 0, err != nil && !errors.Is(err, io.EOF):
		return err
	}
	return &lineError{t.passed + len(t.ends) + 1, errors.New("the text is not UTF-8; convert it first, with iconv -t UTF-8")}
}

// validLen is how many bytes of p are whole characters of UTF-8, up to the first that are not.
func validLen(p []byte) int {
	whole := len(p)
	for i := range min(utf8.UTFMax, len(p)) {
		if last := p[len(p)-1-i:]; utf8.RuneStart(last[0]) && !utf8.FullRune(last) {
			whole = len(p) - len(last)
		}
	}
	if utf8.Valid(p[:whole]) {
		return whole
	}
	n := 0
	for r, size := utf8.DecodeRune(p); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRune(p[n:]) {
		n += size
	}
	return n
}

// line is the line that offset is on. Offsets must not go back.
func (t *textReader) line(offset int64) int {
	n := 0
	for n < len(t.ends) && t.ends[n] < offset {
		n++
	}
	t.ends = t.ends[n:]
	t.passed += n
	return t.passed + 1
}

// readAllText reads a text as Python reads one: however lines end, they end in \n afterwards. It refuses texts of more
// than limit MiB.
func readAllText(r io.Reader, limit int) (string, error) {
	text, err := newTextReader(r)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(text, int64(limit)<<20+1))
	if err != nil {
		return "", cause(err)
	}
	if len(data) > limit<<20 {
		return "", fmt.Errorf("the text is larger than %d MiB; cut it down, with head -c", limit)
	}
	return universalNewlines(data), nil
}

// universalNewlines turns \r\n and \r into \n.
func universalNewlines(data []byte) string {
	if bytes.IndexByte(data, '\r') < 0 {
		return string(data)
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
}

// maxJSONLine bounds a line in bytes, and with it the memory of a reader. Lines that carry pictures need megabytes.
const maxJSONLine = 64 << 20

// jsonLines reads a file that has an object on every line, one line at a time.
type jsonLines struct {
	text   *textReader
	lines  *bufio.Reader // of the text
	buffer []byte
	offset int64 // behind the line last read
	number int   // of the line last read, from 1
	limit  int   // bytes that a line may have
}

func newJSONLines(r io.Reader) (*jsonLines, error) {
	text, err := newTextReader(r)
	if err != nil {
		return nil, err
	}
	return &jsonLines{text: text, lines: bufio.NewReaderSize(text, 1<<16), limit: maxJSONLine}, nil
}

// eachObject calls do with every object of the file and the number of its line. The object is do's until it returns;
// its error gets the line. A file without any object is an error that says what form was expected.
func eachObject(r io.Reader, form string, do func(object []byte, line int) error) error {
	lines, err := newJSONLines(r)
	if err != nil {
		return err
	}
	for found := false; ; found = true {
		object, err := lines.next()
		if errors.Is(err, io.EOF) {
			if !found {
				return fmt.Errorf("the file is empty; expected %s on each line", form)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(object, lines.number); err != nil {
			return &lineError{lines.number, err}
		}
	}
}

// next returns the next line's object, which is valid until the next call, or io.EOF. Blank lines are passed over.
// Numbers of Python that JSON does not know are rewritten: NaN is null, and infinities are ±1e999.
func (l *jsonLines) next() ([]byte, error) {
	for {
		line, complete, err := l.read()
		if err != nil {
			return nil, err
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) == 0 {
			if !complete {
				return nil, io.EOF
			}
			continue
		}
		object, err := checkObject(line, complete)
		if err != nil {
			return nil, &lineError{l.number, err}
		}
		return object, nil
	}
}

// read returns the bytes of the next line and whether a line end follows them. At the end of the file there are none.
func (l *jsonLines) read() (line []byte, complete bool, err error) {
	l.number = l.text.line(l.offset)
	l.buffer = l.buffer[:0]
	for {
		part, err := l.lines.ReadSlice('\n')
		if len(l.buffer)+len(part) > l.limit {
			return nil, false, &lineError{l.number, fmt.Errorf("the line is longer than %d MiB; is this a file with an object on each line?", l.limit>>20)}
		}
		l.buffer = append(l.buffer, part...)
		l.offset += int64(len(part))
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return l.buffer, err == nil, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

// checkObject returns the line as JSON if it is one object. Only the last line of a file is not complete.
func checkObject(line []byte, complete bool) ([]byte, error) {
	valid := json.Valid(line)
	if !valid {
		line = plainNumbers(line)
		valid = json.Valid(line)
	}
	if line[0] != '{' && (valid || line[0] == '[') {
		return nil, fmt.Errorf("expected one object on each line: got %s", jsonscan.Kind(line))
	}
	if valid {
		return line, nil
	}
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&value)
	switch {
	case err == nil:
		return nil, errors.New("something follows the line's object; expected one object on each line")
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("not JSON: %w", err)
	case complete:
		return nil, errors.New("the object does not end on its line; expected one whole object on each line")
	}
	return nil, errors.New("the file ends before its last object does; is it complete?")
}

// pythonNumbers are the numbers of Python that JSON does not know, and the strings that such words may stand in.
var pythonNumbers = regexp.MustCompile(`"(?s:[^"\\]|\\.)*"|NaN|Infinity`)

// plainNumbers rewrites numbers of Python as JSON: NaN is null, and infinities are ±1e999.
func plainNumbers(line []byte) []byte {
	if !bytes.Contains(line, []byte("NaN")) && !bytes.Contains(line, []byte("Infinity")) {
		return line
	}
	return pythonNumbers.ReplaceAllFunc(line, func(found []byte) []byte {
		switch found[0] {
		case 'N':
			return []byte("null")
		case 'I':
			return []byte("1e999") // a minus before it stays where it is
		}
		return found
	})
}
