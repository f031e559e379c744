//go:build fleet

package link

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// standIn is the variable that makes the test binary a worker; its value says how it behaves.
const standIn = "BENCHTOP_TEST_WORKER"

func TestMain(m *testing.M) {
	if how, is := os.LookupEnv(standIn); is {
		os.Exit(work(how))
	}
	os.Exit(m.Run())
}

// work is a worker that says hello by the join string it reads, and ends as its standard input does.
func work(how string) int {
	in := bufio.NewReader(os.Stdin)
	line, _ := in.ReadString('\n')
	for _, word := range append(os.Args, os.Environ()...) {
		if strings.Contains(word, "benchtop://") || len(line) > 60 && strings.Contains(word, line[len(line)-40:]) {
			fmt.Fprintln(os.Stderr, "the join string is in the arguments or the environment")
			return 9
		}
	}
	j, err := ParseJoin(line)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 2
	case how == "crash":
		fmt.Fprintf(os.Stderr, "%s\n\x1b[31mout of memory\n", strings.Repeat("noise ", 2000))
		return 3
	}
	c, err := Dial(context.Background(), j, Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 4
	}
	if err := c.Publish("hello", fmt.Append(nil, os.Getpid())); err != nil {
		return 5
	}
	c.Close()
	_, _ = io.Copy(io.Discard, in)
	if how == "deaf" {
		time.Sleep(time.Hour)
	}
	return 0
}

// hellos is what workers say to a server.
func hellos(t *testing.T) (*Server, Join, chan string) {
	t.Helper()
	s, j := listen(t)
	hello := make(chan string, 10)
	if _, err := dial(t, j, Options{Server: s}).Handle("hello", func(_ string, pid []byte) []byte {
		hello <- string(pid)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return s, j, hello
}

func await[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(30 * time.Second):
		t.Fatal("nothing after 30 s")
	}
	return v
}

func TestLocal(t *testing.T) {
	t.Setenv(standIn, "")
	_, j, hello := hellos(t)
	ps, err := Local(2, j, os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if one, two := await(t, hello), await(t, hello); one == two {
		t.Errorf("one process %s twice", one)
	}
	ps.Stop()
	workers := 0
	for range 2 {
		e := await(t, ps.Exits())
		if e.Err != nil {
			t.Errorf("stopped: %v", e.Err)
		}
		workers += e.Worker
	}
	if workers != 1+2 {
		t.Errorf("the numbers of the workers add up to %d", workers)
	}
}

// A worker that ends early tells its last words, cleaned and cut; one that does not heed is killed.
func TestLocalFails(t *testing.T) {
	t.Setenv(standIn, "crash")
	_, j, hello := hellos(t)
	ps, err := Local(1, j, os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	e := await(t, ps.Exits())
	if e.Err == nil || !strings.Contains(e.Err.Error(), "worker 1 ended: exit status 3; its last words:") ||
		!strings.HasSuffix(e.Err.Error(), "out of memory") || strings.Contains(e.Err.Error(), "\x1b") ||
		len(e.Err.Error()) > lastWords+100 || strings.Contains(e.Err.Error(), j.Login.Token) {
		t.Errorf("error %v", e.Err)
	}
	ps.Stop()
	if _, err := Local(1, j, "/no/such/program"); err == nil {
		t.Error("no error for a program that does not exist")
	}
	t.Setenv(standIn, "deaf")
	if ps, err = Local(1, j, os.Args[0]); err != nil {
		t.Fatal(err)
	}
	await(t, hello)
	ps.all[0].end = func() {} // as if it ignored the signal
	start := time.Now()
	ps.Stop()
	if took := time.Since(start); took < grace || await(t, ps.Exits()).Err != nil {
		t.Errorf("killed after %v", took)
	}
}
