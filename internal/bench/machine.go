package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"benchtop/internal/telemetry"
)

// machine is where and of what something was measured. It has no name of a host, user or folder.
type machine struct {
	System string `json:"system"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Go     string `json:"go"`
	// Commit has a plus sign where files were changed since.
	Commit string `json:"commit"`
	Date   string `json:"date"`
	// Pinned: server and clients ran on cores of their own.
	Pinned bool `json:"pinned"`
}

func thisMachine(ctx context.Context) machine {
	m := machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, CPU: cmp.Or(telemetry.CPUModel(), "unknown processor"), Cores: runtime.NumCPU(), Go: runtime.Version(),
		Commit: commit(ctx), Date: time.Now().UTC().Format(time.DateOnly),
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + string(bytes.TrimSpace(b))
	}
	if runtime.GOOS == "linux" {
		_, err := exec.LookPath("taskset")
		m.Pinned = err == nil
	}
	return m
}

func commit(ctx context.Context) string {
	b, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	id := string(bytes.TrimSpace(b))
	// The page and the figures themselves are written by this program.
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--", ".", ":!"+pagePath, ":!"+recordPath).Output()
	if err != nil || len(bytes.TrimSpace(changed)) > 0 {
		id += "+"
	}
	return id
}

// String is a sentence without its end.
func (m machine) String() string {
	pinned := "server and clients pinned to cores"
	if !m.Pinned {
		pinned = "nothing pinned to cores"
	}
	return fmt.Sprintf("commit %s, %s, %d cores of %s, %s, %s, %s", m.Commit, m.Date, m.Cores, m.CPU, m.System, m.Go, pinned)
}
