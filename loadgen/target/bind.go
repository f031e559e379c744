package target

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
)

// bound dials from one address of this machine after the other. The kernel chooses the ports, as late as it can, so
// that each address has a range of its own.
func bound(d net.Dialer, from []netip.Addr) DialFunc {
	d.Control = func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { portWhenConnecting(fd) })
	}
	var turn atomic.Uint64
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		one := d
		one.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from[(turn.Add(1)-1)%uint64(len(from))], 0))
		return one.DialContext(ctx, network, address)
	}
}
