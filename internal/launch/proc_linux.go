package launch

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/text"
)

// descendants are the processes below a process, without it.
func descendants(root int) (below []int) {
	children := map[int][]int{}
	for _, pid := range processes() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it ended
		}
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name before it may hold anything
		if len(fields) > 1 {
			parent, _ := strconv.Atoi(string(fields[1]))
			children[parent] = append(children[parent], pid)
		}
	}
	below = slices.Clone(children[root])
	for i := 0; i < len(below); i++ {
		below = append(below, children[below[i]]...)
	}
	return below
}

func processes() (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// listeners are the TCP ports that sockets listen on, by the name that a socket has among the files of a process.
func listeners() map[string]int {
	all := map[string]int{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, _ := os.ReadFile(file)
		for line := range strings.SplitSeq(string(data), "\n") {
			const local, state, inode, listen = 1, 3, 9, "0A"
			f := strings.Fields(line)
			if len(f) <= inode || f[state] != listen {
				continue
			}
			_, port, _ := strings.Cut(f[local], ":")
			if n, err := strconv.ParseUint(port, 16, 16); err == nil {
				all["socket:["+f[inode]+"]"] = int(n)
			}
		}
	}
	return all
}

// ports are those that processes listen on, in order; nil if the system does not tell.
func ports(pids []int) (all []int) {
	sockets := listeners()
	for _, pid := range pids {
		for _, port := range portsOf(pid, sockets) {
			if !slices.Contains(all, port) {
				all = append(all, port)
			}
		}
	}
	slices.Sort(all)
	return all
}

// portsOf are those of sockets that a process has among its files.
func portsOf(pid int, sockets map[string]int) (all []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, f := range files {
		name, _ := os.Readlink(f)
		if port, ok := sockets[name]; ok {
			all = append(all, port)
		}
	}
	return all
}

// holderOf is the process that listens on a port, 0 if the system does not tell.
func holderOf(port int) int {
	sockets := listeners()
	for _, pid := range processes() {
		if slices.Contains(portsOf(pid, sockets), port) {
			return pid
		}
	}
	return 0
}

func portOf(address string) int {
	_, text, _ := net.SplitHostPort(address)
	port, _ := strconv.Atoi(text)
	return port
}

// holder tells of the process that listens at an address of this machine, or nothing.
func holder(address string) string {
	pid := holderOf(portOf(address))
	if pid == 0 {
		return ""
	}
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return fmt.Sprintf(" (process %d, %s)", pid, text.Clean(string(name)))
}

// foreign reports whether a process of this machine listens on the port of an address, and none of those below the
// guard does.
func foreign(guard int, address string) bool {
	port := portOf(address)
	return !slices.Contains(ports(descendants(guard)), port) && holderOf(port) != 0
}
