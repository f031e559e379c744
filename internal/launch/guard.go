package launch

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// GuardCommand names the command of this program that runs Guard. No help lists it.
const GuardCommand = "guard-server"

// The guard says on its standard output, a line each: the process of the command and when it began, or why there is
// none; how the command ended; which processes it could not end.
const (
	guardStarted = "started"
	guardFailed  = "failed"
	guardEnded   = "ended"
	guardLeft    = "left"
)

// forceLimit is how long the guard kills.
const forceLimit = 10 * time.Second

// tree is a command with its descendants. Each system has one: start runs a command whose output goes to a file, ended
// has how the command ended, gone is closed when no descendant is left, ask sends SIGTERM, kill ends by force, and left
// names processes.
type tree struct {
	pid   int
	ended chan string
	gone  chan struct{}
}

// Guard runs a command line, of which the first word is the grace period, until its standard input ends or a signal
// comes, and then ends the command with its descendants. It returns an exit code. What the command prints goes to the
// file.
func Guard(args []string, stdin io.Reader, status io.Writer, prints *os.File) int {
	say := func(word string, rest any) { fmt.Fprintf(status, "%s %v\n", word, rest) }
	if len(args) < 2 {
		say(guardFailed, "this command is for benchtop's own use")
		return 2
	}
	grace, err := time.ParseDuration(args[0])
	if err != nil {
		say(guardFailed, err)
		return 2
	}
	// Signals are caught, and not ignored, since an ignored one would be ignored by the command too. A write to a
	// program that was killed raises SIGPIPE.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	runtime.LockOSThread() // the command ends with the thread that starts it
	began := time.Now()
	t, err := start(args[1:], prints)
	if err != nil {
		say(guardFailed, err)
		return 1
	}
	say(guardStarted, fmt.Sprint(t.pid, " ", began.UnixNano()))
	asked := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		close(asked)
	}()
	ended := t.ended
	select {
	case <-asked:
	case <-signals:
	case how := <-ended:
		say(guardEnded, how)
		ended = nil
	}
	whole := t.end(grace)
	if ended != nil {
		select {
		case how := <-ended:
			say(guardEnded, how)
		default:
		}
	}
	if !whole {
		say(guardLeft, t.left())
		return 1
	}
	return 0
}

// end asks the processes to end, and kills those that remain after the grace period. It reports whether none is left.
func (t *tree) end(grace time.Duration) bool {
	t.ask()
	select {
	case <-t.gone:
		return true
	case <-time.After(grace):
	}
	limit := time.After(forceLimit)
	for {
		t.kill() // again and again, since a process may have started another meanwhile
		select {
		case <-t.gone:
			return true
		case <-limit:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}
