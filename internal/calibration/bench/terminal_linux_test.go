package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// A program on a terminal gets its size and keys, and its output is awaited.
func TestViewer(t *testing.T) {
	v, err := startOnTerminal(exec.Command("sh", "-c",
		`stty size; echo "TERM $TERM"; read line; echo "heard $line"; read line; stty size; read line`), size{100, 30})
	assert.Fine(t, err)
	v.expect("TERM xterm-256color")
	v.await(t.Context())
	v.resize(size{80, 24})
	if pressed, at := v.pressAndAwait(t.Context(), "you\n", "heard you"); at.Before(pressed) {
		t.Errorf("seen at %s, pressed at %s", at, pressed)
	}
	v.pressAndAwait(t.Context(), "\n", "24 80")
	if v.err != nil {
		v.end()
		t.Fatal(v.err)
	}
	if said := string(v.takeOutput()); !strings.Contains(said, "24 80") || v.total.Load() < int64(len(said)) {
		t.Errorf("of %d bytes the last are %q", v.total.Load(), said)
	}
	v.press("\n")
	assert.Fine(t, v.wait())
}

// Waiting ends with a program that does not print the words.
func TestViewerInVain(t *testing.T) {
	v, err := startOnTerminal(exec.Command("sh", "-c", "echo other; exit 3"), usual)
	assert.Fine(t, err)
	v.expect("words")
	if v.await(t.Context()); v.err == nil || !strings.Contains(v.err.Error(), "ended") {
		t.Errorf("got %v", v.err)
	}
	first := v.err
	v.press("x")
	v.pause(t.Context(), time.Hour)
	v.resize(usual)
	if at := v.await(t.Context()); !at.IsZero() || v.err != first {
		t.Errorf("after an error: seen at %s, %v", at, v.err)
	}
	if err := v.wait(); err == nil {
		t.Error("its exit code was lost")
	}
	if v, err = startOnTerminal(exec.Command("sleep", "3600"), usual); err != nil {
		t.Fatal(err)
	}
	v.end() // returns long before the hour is over
}
