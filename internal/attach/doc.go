// Package attach lets other terminals look at a run: the run listens on a unix socket that only its user can open, and a
// viewer gets snapshots from it.
//
//	run: Host ──frames (gob)──> Viewer: dashboard
//	      ^──────commands (JSON lines)──┘
//
// A frame holds what changed since the one before. Every viewer has a goroutine and a snapshot of its own, so that neither a
// slow one nor many of them hold up the run or each other. Both ends are the same program on the same machine; a viewer of
// another version is refused.
package attach
