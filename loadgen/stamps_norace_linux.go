//go:build !race

package loadgen

func received(uintptr) {}
