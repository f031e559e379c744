package main

import (
	"os/exec"
	"strings"
	"testing"
)

// A program on a terminal of ours has its size, hears keys, and what it says is seen.
func TestViewer(t *testing.T) {
	v, err := view(exec.Command("sh", "-c", `stty size; echo "TERM $TERM"; read line; echo "heard $line"; read line; stty size; read line`), size{100, 30})
	if err != nil {
		t.Fatal(err)
	}
	v.expect("TERM xterm-256color")
	if _, err := v.sight(t.Context()); err != nil {
		v.end()
		t.Fatal(err)
	}
	if err := resizeTerminal(v.master, size{80, 24}); err != nil {
		t.Error(err)
	}
	v.expect("heard you")
	pressed, err := v.press("you\n")
	if err != nil {
		t.Error(err)
	}
	at, err := v.sight(t.Context())
	if err != nil || at.Before(pressed) {
		t.Errorf("seen at %s, pressed at %s: %v", at, pressed, err)
	}
	v.expect("24 80")
	if _, err := v.press("\n"); err != nil {
		t.Error(err)
	}
	if _, err := v.sight(t.Context()); err != nil {
		t.Error(err)
	}
	if said := string(v.hear()); !strings.Contains(said, "24 80") || v.total.Load() < int64(len(said)) {
		t.Errorf("of %d bytes the last are %q", v.total.Load(), said)
	}
	if _, err := v.press("\n"); err != nil {
		t.Error(err)
	}
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
	if _, err := v.sight(t.Context()); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("got %v", err)
	}
	if err := v.wait(); err == nil {
		t.Error("its exit code was lost")
	}
	if v, err = view(exec.Command("sleep", "3600"), usual); err != nil {
		t.Fatal(err)
	}
	v.end() // returns long before the hour is over
}
