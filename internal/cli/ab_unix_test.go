//go:build unix

package cli

import (
	"net"
	"testing"

	"benchtop/internal/session"
)

// Servers of commands for one port run in turn, and none of them is left.
func TestABCommands(t *testing.T) {
	t.Parallel()
	port := unused(t)
	command := program(t) + " simulate --port " + port
	got := benchtop("ab", "--a", command, "--b", command+" --speed 2", "--blocks", "8", "--num-prompts", "16",
		"--max-concurrency", "2", "--random-input-len", "16", "--random-output-len", "2", "--no-tui", "--no-save")
	got.expect(t, session.ExitFine, "16 pairs, too few", "too short")
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatalf("a server is left: %v", err)
	}
	_ = l.Close()
}
