package conn

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/loadgen/conn/conntest"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// A socket requests stamps as long as the process lives, also between two pools.
func TestStampedSocket(t *testing.T) {
	conntest.NeedStamps(t, KernelStamps())
	g, err := target.New(target.Options{BaseURL: "http://model.test"})
	assert.Fine(t, err)
	NewPool(g, "").Close()
	socket, err := stampedSocket()
	assert.Fine(t, err)
	raw, err := socket.SyscallConn()
	assert.Fine(t, err)
	flags, first := 0, true
	if err := raw.Control(func(fd uintptr) {
		flags, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING)
		first = stampsArrive(int(fd))
	}); err != nil || flags != stampFlags || !first {
		t.Errorf("flags %#x, first packet stamped %t, %v", flags, first, err)
	}
}

// A packet without a stamp has the time of its read, the next one with a stamp its own.
func TestPacketWithoutStamp(t *testing.T) {
	conntest.NeedStamps(t, KernelStamps())
	stamps := newStamping("")
	conn, server := stampedPair(t, stamps)
	option := func(flags int) {
		err := control(conn.Conn, func(fd int) {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags); err != nil {
				t.Error(err)
			}
		})
		assert.Fine(t, err)
	}
	last := time.Duration(0)
	for i, stamped := range []bool{true, false, true, false} {
		option(map[bool]int{true: stampFlags}[stamped])
		from := conn.clock.Now()
		_, _ = server.Write([]byte("abc"))
		wait := 20 * time.Millisecond
		time.Sleep(wait)
		assert.Must(conn.Read(make([]byte, 8)))(t)
		assert.Equal(t, conn.delay != metrics.Never, stamped, "read %d: delay %s", i, conn.delay)
		if stamped && conn.delay < wait/2 || !stamped && conn.read < from+wait || conn.read < last ||
			conn.read > conn.clock.Now() {
			t.Errorf("read %d: sent after %s, came at %s, waited for %s", i, from, conn.read, conn.delay)
		}
		last = conn.read
	}
}

// A stamp lies between the previous one and its read.
func TestStampsAreClamped(t *testing.T) {
	conntest.NeedStamps(t, KernelStamps())
	stamps := newStamping("")
	conn, server := stampedPair(t, stamps)
	_, _ = server.Write([]byte("too early"))
	time.Sleep(20 * time.Millisecond)
	conn.sent = metrics.Never
	_, _ = conn.Write([]byte("request"))
	assert.Must(conn.Read(make([]byte, 100)))(t)
	if conn.read != conn.sent || conn.delay < 0 {
		t.Errorf("it came at %s and waited for %s, but the request was sent at %s", conn.read, conn.delay, conn.sent)
	}
	// Not even the next to last read can have come after the last.
	conn.read = conn.clock.Now()
	before := conn.read
	now := stamps.wall.now()
	conn.stamp(now.wall - int64(time.Millisecond))
	assert.Equal(t, conn.read, before, "a stamp of %s after one of %s", conn.read, before)
	now = stamps.wall.now()
	conn.stamp(now.wall + int64(10*time.Microsecond))
	if user := conn.clock.Now(); conn.read > user || conn.delay < 0 {
		t.Errorf("a stamp of %s, read before %s, waited for %s", conn.read, user, conn.delay)
	}
}

// The wall clock is set while connections are open: reads around it have their own time, later ones the kernel's again.
func TestClockStepOnConnection(t *testing.T) {
	conntest.NeedStamps(t, KernelStamps())
	stamps := newStamping("")
	// The program's clock is wrong until it is set; the kernel's stamps are right all along.
	var wrong atomic.Int64
	wrong.Store(int64(-5 * time.Second))
	right := stamps.wall.now
	stamps.wall = newWallClock(func() reading {
		r := right()
		r.wall += wrong.Load()
		return r
	})
	conn, server := stampedPair(t, stamps)
	read := func(want bool) {
		t.Helper()
		before := conn.clock.Now()
		_, _ = server.Write([]byte("abc"))
		after := conn.clock.Now()
		time.Sleep(5 * time.Millisecond)
		assert.Must(conn.Read(make([]byte, 8)))(t)
		assert.Equal(t, conn.delay != metrics.Never, want, "stamped by the kernel")
		if !want && conn.read < after ||
			want && (conn.read < before-5*time.Microsecond || conn.read > after+5*time.Millisecond) {
			t.Errorf("sent at %s to %s, came at %s", before, after, conn.read)
		}
	}
	read(false)
	time.Sleep(2 * time.Millisecond) // the clocks are not compared twice in one
	_, _ = server.Write([]byte("before"))
	wrong.Store(0)
	if _, err := conn.Read(make([]byte, 8)); err != nil || conn.delay != metrics.Never || stamps.clockSteps() != 1 {
		t.Errorf("%v, waited for %s, %d steps", err, conn.delay, stamps.clockSteps())
	}
	read(false) // the socket was not seen empty since the step was found
	read(true)
	read(true)
}

// controlMessage is one as the kernel writes it.
func controlMessage(level, kind int32, data ...int64) []byte {
	b := make([]byte, unix.CmsgSpace(8*len(data)))
	if unix.SizeofCmsghdr == 16 {
		binary.NativeEndian.PutUint64(b, uint64(unix.CmsgLen(8*len(data))))
	} else {
		binary.NativeEndian.PutUint32(b, uint32(unix.CmsgLen(8*len(data))))
	}
	binary.NativeEndian.PutUint32(b[unix.SizeofCmsghdr-8:], uint32(level))
	binary.NativeEndian.PutUint32(b[unix.SizeofCmsghdr-4:], uint32(kind))
	for i, d := range data {
		binary.NativeEndian.PutUint64(b[unix.CmsgLen(0)+8*i:], uint64(d))
	}
	return b
}

func TestStampIn(t *testing.T) {
	if unix.SizeofCmsghdr != 16 {
		ci.Skip(t, "written for 64 bits")
	}
	stamp := controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, 7, 5, 0, 0, 0, 0)
	other := controlMessage(unix.SOL_TCP, 36, 1)
	for _, c := range []struct {
		name    string
		control []byte
		want    int64
	}{
		{"nothing", nil, noStamp},
		{"a stamp", stamp, 7_000_000_005},
		{"behind another", append(append([]byte{}, other...), stamp...), 7_000_000_005},
		{"before another", append(append([]byte{}, stamp...), other...), 7_000_000_005},
		{"another", other, noStamp},
		{"same type, another level", controlMessage(unix.SOL_TCP, unix.SCM_TIMESTAMPING, 7, 5, 0, 0, 0, 0), noStamp},
		{"hardware only", controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, 0, 0, 0, 0, 7, 5), noStamp},
		{"too short", controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, 7), noStamp},
		{"no data", controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING), noStamp},
		{"before 1970", controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, -7, 5, 0, 0, 0, 0), noStamp},
		{"cut off", stamp[:30], noStamp},
		{"half a header", stamp[:9], noStamp},
		{"length of nothing", make([]byte, 64), noStamp},
		{"length beyond the end", append([]byte{255, 255, 255, 255, 255, 255, 255, 255}, stamp[8:]...), noStamp},
	} {
		assert.Equal(t, stampIn(c.control), c.want, "%s", c.name)
	}
}

// FuzzStampIn: no control message makes the parser read beyond it, or loop.
func FuzzStampIn(f *testing.F) {
	f.Add(controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, 7, 5, 0, 0, 0, 0))
	f.Add(append(controlMessage(unix.SOL_TCP, 36, 1),
		controlMessage(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, 1<<62, 1<<62)...))
	f.Fuzz(func(t *testing.T, control []byte) {
		if s := stampIn(control); s < 0 {
			t.Errorf("stamp %d", s)
		}
	})
}
