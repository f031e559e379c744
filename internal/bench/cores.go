package main

import (
	"runtime"
	"strconv"
)

// cores are those on which a process may run, as taskset wants them, and the number of threads for Go code that go with them.
type cores struct {
	list  string
	procs int
}

func firstCore() cores { return cores{"0", 1} }

// lastCore is the server's.
func lastCore() cores { return cores{strconv.Itoa(runtime.NumCPU() - 1), 2} }

// allButLast are those the server does not have; the only one where there is one.
func allButLast() cores { return firstCores(max(1, runtime.NumCPU()-1)) }

func allCores() cores { return firstCores(runtime.NumCPU()) }

func firstCores(n int) cores {
	if n == 1 {
		return firstCore()
	}
	return cores{"0-" + strconv.Itoa(n-1), n}
}
