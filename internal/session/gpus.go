package session

import (
	"context"
	"net"
	"slices"
	"time"

	"benchtop/internal/run/watch"
	"benchtop/internal/spec"
	"benchtop/loadgen/target"
)

// watchedGPUs are the accelerators to watch beside a server.
func watchedGPUs(ctx context.Context, o *spec.GPUs, t *target.Target) watch.GPUs {
	off := o.Off
	if o.Which == spec.GpuAuto && off == "" && !onThisMachine(ctx, t.Hostname()) {
		off = "the server is on another machine; --gpu all monitors the GPUs of this one anyway"
	}
	return watch.GPUs{Off: off, Only: o.Only, Asked: o.Asked() != ""}
}

// onThisMachine reports whether a host is this one.
func onThisMachine(ctx context.Context, host string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return false
	}
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(ips, func(ip net.IPAddr) bool {
		return ip.IP.IsLoopback() || slices.ContainsFunc(own, func(a net.Addr) bool {
			n, ok := a.(*net.IPNet)
			return ok && n.IP.Equal(ip.IP)
		})
	})
}
