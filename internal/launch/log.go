package launch

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"benchtop/internal/text"
)

const (
	longestLine = 4 << 10 // bytes; a longer line goes on in the next
	lastLines   = 12      // that an error repeats
)

// log makes lines of what a server prints. A progress bar, whose steps end in a carriage return, is at most one line a
// second, and its last step.
type log struct {
	take  func(line string)
	hide  *strings.Replacer
	line  []byte // the unfinished line
	step  bool   // the unfinished line ended in a carriage return
	shown time.Time

	mu   sync.Mutex // guards last
	tail []string
}

func newLog(o Options) log {
	take := o.Log
	if take == nil {
		take = func(string) {}
	}
	return log{take: take, hide: hider(o.Command, o.Env)}
}

// Write takes bytes, split anywhere.
func (l *log) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		i := bytes.IndexAny(rest, "\r\n")
		part := rest
		if i >= 0 {
			part = rest[:i]
		}
		if l.step && (len(part) > 0 || rest[i] == '\r') { // the progress bar is drawn anew
			l.redraw()
		}
		for n := longestLine - len(l.line); len(part) > n; n = longestLine {
			l.line = append(l.line, part[:n]...)
			part = part[n:]
			l.emit()
		}
		l.line = append(l.line, part...)
		switch {
		case i < 0:
			return len(p), nil
		case rest[i] == '\n':
			l.emit()
		default:
			l.step = true
		}
		rest = rest[i+1:]
	}
	return len(p), nil
}

// redraw drops a step of a progress bar, or emits it if none was for a second.
func (l *log) redraw() {
	if now := time.Now(); len(l.line) > 0 && now.Sub(l.shown) >= time.Second {
		l.shown = now
		l.emit()
	}
	l.line, l.step = l.line[:0], false
}

func (l *log) emit() {
	line := l.hide.Replace(text.Clean(string(l.line)))
	l.line, l.step = l.line[:0], false
	if line == "" {
		return
	}
	l.mu.Lock()
	l.tail = append(l.tail, line)
	if len(l.tail) > lastLines {
		l.tail = append(l.tail[:0], l.tail[1:]...)
	}
	l.mu.Unlock()
	l.take(line)
}

// finish emits an unfinished line.
func (l *log) finish() {
	if len(l.line) > 0 {
		l.emit()
	}
}

// last is the end of an error: the last lines, or that there are none.
func (l *log) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tail) == 0 {
		return "; it has printed nothing"
	}
	return "; its last lines:\n  " + strings.Join(l.tail, "\n  ")
}
