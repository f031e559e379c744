package term

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"
)

// Background is the message that tells a model the background of the terminal, once the terminal has answered.
type Background struct{ Light bool }

// LightBackground guesses from the environment whether the background of the terminal is light: some terminals set
// COLORFGBG to the numbers of their colours, such as 0;15. The default is dark.
func LightBackground(getenv func(string) string) bool {
	all := getenv("COLORFGBG")
	n, err := strconv.Atoi(all[strings.LastIndexByte(all, ';')+1:])
	return err == nil && n >= 7 && n <= 15 && n != 8
}

// question asks a terminal for its background colour. Those that do not know it ignore it, but for a few, see asks.
const question = "\x1b]11;?\x1b\\"

// patience is how long the end of a program waits for an answer that is due. One that came later would be typed text
// for the shell.
const patience = 500 * time.Millisecond

// answers is the input of a terminal without the answer to the question. No byte waits for another unless it begins an
// answer.
//
//	keys ──┬──────────────> Bubble Tea
//	       └─ answer ─────> tell, once
type answers struct {
	*os.File
	tell func(light bool)

	answerFilter
}

// Read is called when there is something to read, and returns none of it where that is an answer.
func (a *answers) Read(b []byte) (int, error) {
	if len(b) <= answerMost { // no room for what is held back: not so with Bubble Tea
		return a.File.Read(b)
	}
	n, err := a.File.Read(b[:len(b)-len(a.held)])
	keys, colour := a.take(b[:n])
	if colour != "" {
		a.tell(isLight(colour))
	}
	return copy(b, keys), err
}

// answerFilter finds the first answer in what a terminal sends, in pieces of any size.
type answerFilter struct {
	held    []byte // the beginning of an answer without its end
	escaped bool   // the last byte was ESC, which is passed on at once since it is also a key
	found   bool
}

const (
	answerStart = "\x1b]11;"
	answerMost  = 64 // bytes
)

// take returns the keys of a piece, and the colour of an answer that ends in it.
func (f *answerFilter) take(piece []byte) (keys []byte, colour string) {
	if f.found || len(piece) == 0 {
		return piece, ""
	}
	all := append(f.held, piece...)
	if f.held = nil; f.escaped && bytes.HasPrefix(all, []byte(answerStart[1:])) {
		all = append([]byte{'\x1b'}, all...) // one Esc too many went on, but no text
	}
	f.escaped = all[len(all)-1] == '\x1b'
	at := startOf(all)
	if at < 0 {
		return all, ""
	}
	end, n := endOf(all[at:])
	switch {
	case n > 0:
		f.found = true
		return append(all[:at:at], all[at+end+n:]...), string(all[min(at+len(answerStart), at+end) : at+end])
	case len(all)-at > answerMost:
		return all, ""
	}
	f.held, f.escaped = bytes.Clone(all[at:]), false
	return all[:at], ""
}

// startOf is where an answer starts, or the beginning of its start at the end; -1 for nowhere. ESC alone is a key.
func startOf(b []byte) int {
	if at := bytes.Index(b, []byte(answerStart)); at >= 0 {
		return at
	}
	for n := min(len(answerStart)-1, len(b)); n > 1; n-- {
		if bytes.HasSuffix(b, []byte(answerStart[:n])) {
			return len(b) - n
		}
	}
	return -1
}

// endOf is where an answer ends, and the length of the end; 0 for none.
func endOf(b []byte) (at, n int) {
	for _, end := range []string{"\a", "\x1b\\"} {
		if at := bytes.Index(b, []byte(end)); at >= 0 && at <= answerMost {
			return at, len(end)
		}
	}
	return 0, 0
}

// isLight reads a colour such as rgb:ffff/ffff/ffff, with one to four digits each. Anything else is dark.
func isLight(colour string) bool {
	_, all, _ := strings.Cut(colour, ":")
	parts := strings.Split(all, "/")
	if len(parts) < 3 {
		return false
	}
	sum := 0.0
	for i, weight := range []float64{0.299, 0.587, 0.114} { // of red, green and blue in what is seen as light
		v, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil {
			return false
		}
		sum += weight * float64(v) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	return sum > 0.5
}

// asks reports whether the terminal of a program may be asked: it is the one that sends the keys, and it is none of
// those that would write the question on the screen.
func (w *Writer) asks(getenv func(string) string) bool {
	name, _, _ := strings.Cut(getenv("TERM"), "-")
	return w.Ask && canAsk && w.IsTerminal() && term.IsTerminal(os.Stdin.Fd()) && name != "" && name != "linux" &&
		name != "dumb" && name != "eterm"
}

// backgroundQuery is a question to a terminal while a program is on it.
type backgroundQuery struct {
	w        *Writer
	program  *tea.Program
	once     sync.Once
	since    time.Time
	answered chan struct{}
}

// options let a program read the answer, and end only once it came.
func (a *backgroundQuery) options() []tea.ProgramOption {
	in := &answers{File: os.Stdin, tell: func(light bool) {
		close(a.answered)
		go a.program.Send(Background{light})
	}}
	return []tea.ProgramOption{tea.WithInput(in), tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
		a.once.Do(func() { // the first message comes when the terminal is set to show no input
			go a.w.Aside(question)
		})
		if _, quits := msg.(tea.QuitMsg); !quits || !a.due() {
			return msg
		}
		go func() {
			a.wait()
			a.program.Quit()
		}()
		return nil
	})}
}

// due reports whether an answer may still come.
func (a *backgroundQuery) due() bool {
	select {
	case <-a.answered:
		return false
	default:
		return time.Since(a.since) < patience
	}
}

// wait waits for the answer as long as it may come.
func (a *backgroundQuery) wait() {
	select {
	case <-a.answered:
	case <-time.After(patience - time.Since(a.since)):
	}
}
