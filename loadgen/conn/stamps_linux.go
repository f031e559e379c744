package conn

import (
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stampFlags request the time at which the kernel got a packet from the network card's driver.
const stampFlags = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE

// openStampedSocket opens a socket that requests stamps.
func openStampedSocket() (*os.File, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	}
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), "stamps")
	if err := askForStamps(fd); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// awaitStamps waits until the kernel stamps, which may be a hundred packets after the request on a busy machine.
// Without a loopback it does not wait.
var awaitStamps = sync.OnceFunc(func() {
	socket, err := stampedSocket()
	if err != nil || connectToItself(int(socket.Fd())) != nil {
		return
	}
	// Go's timers would advance virtual time.
	for pause := 0; pause < longestWarming && !stampsArrive(int(socket.Fd())); pause++ {
		_, _ = unix.Poll(nil, 1)
	}
})

// longestWarming in milliseconds.
const longestWarming = 100

// connectToItself makes a datagram socket send to itself.
func connectToItself(fd int) error {
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	self, err := unix.Getsockname(fd)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	return os.NewSyscallError("connect", unix.Connect(fd, self))
}

// stampsArrive reports whether a datagram that the socket sends to itself comes with a stamp.
func stampsArrive(fd int) bool {
	if _, err := unix.Write(fd, []byte{0}); err != nil {
		return false
	}
	var data [1]byte
	var control [controlWords * 8]byte
	_, n, _, _, err := unix.Recvmsg(fd, data[:], control[:], unix.MSG_DONTWAIT)
	return err == nil && stampIn(control[:n]) != noStamp
}

func askForStamps(fd int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stampFlags))
}

// stampIn finds the stamp in control messages, noStamp if there is none.
func stampIn(control []byte) int64 {
	for len(control) >= unix.SizeofCmsghdr {
		header, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return noStamp
		}
		var t unix.Timespec // the software stamp comes first, those of hardware follow
		if header.Level == unix.SOL_SOCKET && header.Type == unix.SCM_TIMESTAMPING &&
			len(data) >= int(unsafe.Sizeof(t)) {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&t)), unsafe.Sizeof(t)), data)
			return max(noStamp, t.Nano())
		}
		control = rest
	}
	return noStamp
}
