//go:build !unix

package server

import "os/exec"

func inGroup(*exec.Cmd) {}
