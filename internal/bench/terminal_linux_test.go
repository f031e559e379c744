package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A program on a terminal of ours has its size, hears keys, and what it says is seen.
func TestViewer(t *testing.T) {
	v, err := view(exec.Command("sh", "-c", `stty size; echo "TERM $TERM"; read line; echo "heard $line"; read line; stty size; read line`), size{100, 30})
	if err != nil {
		t.Fatal(err)
	}
	v.expect("TERM xterm-256color")
	v.sight(t.Context())
	v.resize(size{80, 24})
	if pressed, at := v.turn(t.Context(), "you\n", "heard you"); at.Before(pressed) {
		t.Errorf("seen at %s, pressed at %s", at, pressed)
	}
	v.turn(t.Context(), "\n", "24 80")
	if v.err != nil {
		v.end()
		t.Fatal(v.err)
	}
	if said := string(v.hear()); !strings.Contains(said, "24 80") || v.total.Load() < int64(len(said)) {
		t.Errorf("of %d bytes the last are %q", v.total.Load(), said)
	}
	v.press("\n")
	if err := v.wait(); err != nil {
		t.Error(err)
	}
}

// One that ends without the words, or never says them, is not waited for.
func TestViewerInVain(t *testing.T) {
	v, err := view(exec.Command("sh", "-c", "echo other; exit 3"), usual)
	if err != nil {
		t.Fatal(err)
	}
	v.expect("words")
	if v.sight(t.Context()); v.err == nil || !strings.Contains(v.err.Error(), "ended") {
		t.Errorf("got %v", v.err)
	}
	first := v.err
	v.press("x")
	v.pause(t.Context(), time.Hour)
	v.resize(usual)
	if at := v.sight(t.Context()); !at.IsZero() || v.err != first {
		t.Errorf("after an error: seen at %s, %v", at, v.err)
	}
	if err := v.wait(); err == nil {
		t.Error("its exit code was lost")
	}
	if v, err = view(exec.Command("sleep", "3600"), usual); err != nil {
		t.Fatal(err)
	}
	v.end() // returns long before the hour is over
}
