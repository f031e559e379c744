package cli

import (
	"errors"
	"io"
	"log"
	"strings"
	"testing"

	"benchtop/internal/session"
)

// An error may quote what a server calls its model; that must not command the terminal.
func TestErrorsDoNotCommandTheTerminal(t *testing.T) {
	var out strings.Builder
	code := (&session.Environment{Stderr: &out}).Fail(session.ExitUsage,
		errors.New("path a  b/\tc: é\nmodel x\x1b[31m\x1b]0;title\x07y\u202e: gone\xff"))
	if want := "benchtop: path a  b/\tc: é\nbenchtop: model xy: gone\uFFFD\n"; out.String() != want ||
		code != session.ExitUsage {
		t.Errorf("got %q, exit code %d, want %q", out.String(), code, want)
	}
}

// net/http logs the bytes that a server sends unasked; on a terminal they would be written across the dashboard.
func TestLibrariesDoNotWriteOnTheTerminal(t *testing.T) {
	var out strings.Builder
	was := log.Writer()
	log.SetOutput(&out)
	defer log.SetOutput(was)
	if code := Main([]string{"version"}, strings.NewReader(""), io.Discard, io.Discard); code != session.ExitFine {
		t.Fatalf("exit code %d", code)
	}
	log.Print("Unsolicited response")
	if out.Len() > 0 {
		t.Errorf("the log wrote %q", out.String())
	}
}
