// Package conntest helps tests of what the kernel says of packets.
package conntest

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchtop/internal/ci"
)

// NeedStamps skips a test where the kernel takes the option but does not stamp, which some sandboxes do, or where the
// code under test knows none. It does not use that code, and returns when the kernel has begun to stamp.
func NeedStamps(t testing.TB, known bool) {
	t.Helper()
	if !known {
		ci.Skip(t, "this system's kernel does not stamp packets")
	}
	l, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // so that the kernel goes on during the test
	raw, err := l.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING,
			unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
	})
	if err != nil {
		t.Fatal(err)
	}
	patience := 6000
	if neverStamped.Load() {
		patience = 1
	}
	for range patience {
		_, _ = l.WriteTo([]byte("x"), l.LocalAddr())
		if _, n, _, _, err := l.ReadMsgUDP(make([]byte, 1), make([]byte, 128)); err != nil {
			t.Fatal(err)
		} else if n > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	neverStamped.Store(true)
	ci.Skip(t, "the kernel takes the option but stamps nothing")
}

// neverStamped is set when a test has waited for stamps for a minute in vain, so that the next need not.
var neverStamped atomic.Bool
