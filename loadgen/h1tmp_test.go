package loadgen

import (
	"fmt"
	"net"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func threadCPU() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return ts.Nano()
}

func TestH1CPU(t *testing.T) {
	runtime.LockOSThread()
	stamps := newStamping("")
	plain, ps := tcpPair(t)
	user, us := stampedPair(t, nil)
	kern, ks := stampedPair(t, stamps)
	p, d := make([]byte, 4096), make([]byte, 250)
	type k struct {
		name string
		c    net.Conn
		s    *net.TCPConn
		got  []float64
	}
	all := []*k{{"net", plain, ps, nil}, {"user", user, us, nil}, {"kernel", kern, ks, nil}}
	for range 400 {
		for _, x := range all {
			for range 100 {
				_, _ = x.s.Write(d)
			}
			a := threadCPU()
			for range 100 {
				if n, err := x.c.Read(p[:250]); n != 250 {
					t.Fatal(err)
				}
			}
			sum := threadCPU() - a
			x.got = append(x.got, float64(sum)/100)
		}
	}
	for _, x := range all {
		slices.Sort(x.got)
		fmt.Printf("%s min %.0f p10 %.0f median %.0f ns; ", x.name, x.got[0], x.got[len(x.got)/10], x.got[len(x.got)/2])
	}
	fmt.Println()
}
