//go:build fleet && sshd

package link

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sshd is one of this test, with keys of its own, and a client configuration that knows it.
func sshd(t *testing.T, more string) (host, config, home string) {
	t.Helper()
	const server = "/usr/sbin/sshd"
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, key := range []string{"host", "user"} {
		keygen := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(key))
		if out, err := keygen.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	port := freePort(t)
	home = path("home")
	public, _ := os.ReadFile(path("user.pub"))
	known, _ := os.ReadFile(path("host.pub"))
	// The forced environment keeps the home of the account untouched.
	for name, content := range map[string]string{
		"home/x": "", "authorized": string(public), "known": fmt.Sprintf("[127.0.0.1]:%d %s", port, known),
		"sshd": fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\n"+
			"UsePAM no\nPidFile none\nSetEnv HOME=%s PATH=%s/bin:/usr/bin:/bin %s=\n%s\n", port, path("host"),
			path("authorized"), home, home, standIn, more),
		"ssh": fmt.Sprintf("IdentityFile %s\nIdentitiesOnly yes\nUserKnownHostsFile %s\n", path("user"), path("known")),
	} {
		if err := os.MkdirAll(filepath.Dir(path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.MkdirAll("/run/sshd", 0o755)
	cmd := exec.Command(server, "-D", "-e", "-f", path("sshd"))
	cmd.Stderr = &tail{}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	host = fmt.Sprintf("ssh://root@127.0.0.1:%d", port)
	eventually(t, "sshd lets this test in", func() bool {
		out, err := exec.Command("ssh", "-F", path("ssh"), "-o", "BatchMode=yes", host, "echo $HOME").CombinedOutput()
		if err == nil && strings.TrimSpace(string(out)) != home {
			t.Fatalf("home %s", out)
		}
		return err == nil
	})
	return host, path("ssh"), home
}

// TestSSH copies the program to a host, starts it there through a tunnel, finds the copy the second time, prefers a
// benchtop of its version in the PATH, and stops workers that do not heed.
func TestSSH(t *testing.T) {
	host, config, home := sshd(t, "")
	_, j, hello := hellos(t)
	s := SSH{Args: []string{"-F", config}, Program: os.Args[0], Tunnel: true}
	for range 2 {
		ps, err := s.Start(t.Context(), []string{host, host}, j)
		if err != nil {
			t.Fatal(err)
		}
		await(t, hello)
		await(t, hello)
		ps.Stop()
		if e := await(t, ps.Exits()); e.Err != nil {
			t.Error(e.Err)
		}
	}
	copies, _ := filepath.Glob(home + "/.cache/benchtop/unversioned-*/*")
	if len(copies) != 1 || filepath.Base(copies[0]) != "benchtop" {
		t.Errorf("copies %v", copies)
	}
	script := "#!/bin/sh\n[ \"$1\" = --version ] && { echo benchtop 1.2.3; exit; }\nexport " + standIn +
		"=deaf\nexec " + os.Args[0] + "\n"
	if err := errors.Join(os.Mkdir(home+"/bin", 0o700),
		os.WriteFile(home+"/bin/benchtop", []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	s.Version, s.Worker = "1.2.3", []string{"worker"}
	ps, err := s.Start(t.Context(), []string{host}, j)
	if err != nil {
		t.Fatal(err)
	}
	pid := await(t, hello)
	ps.Stop()
	eventually(t, "the deaf worker is killed", func() bool { return exec.Command("kill", "-0", pid).Run() != nil })
	if copies, _ := filepath.Glob(home + "/.cache/benchtop/1.2.3-*"); len(copies) > 0 {
		t.Errorf("copies %v", copies)
	}
	// A worker ends by itself when the ssh to it does.
	s.Version = ""
	if ps, err = s.Start(t.Context(), []string{host}, j); err != nil {
		t.Fatal(err)
	}
	pid = await(t, hello)
	_ = ps.all[0].cmd.Process.Kill()
	if e := await(t, ps.Exits()); e.Err == nil || !strings.Contains(e.Err.Error(), "killed") {
		t.Errorf("error %v", e.Err)
	}
	eventually(t, "the worker ends", func() bool { return exec.Command("kill", "-0", pid).Run() != nil })
}

// Hosts that cannot be used say why, and never ask.
func TestSSHFails(t *testing.T) {
	host, config, home := sshd(t, "AllowTcpForwarding no")
	_, j, _ := hellos(t)
	if err := os.WriteFile(config+"-none", []byte("IdentityFile none\nIdentitiesOnly yes\nUserKnownHostsFile "+
		filepath.Dir(config)+"/known\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config+"-new", []byte("UserKnownHostsFile /dev/null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, set := range map[string]func(*SSH, *[]string){
		"allows no tunnel":           func(s *SSH, _ *[]string) { s.Tunnel = true },
		"set up a key for it":        func(s *SSH, _ *[]string) { s.Args[1] += "-none" },
		"connect once by hand":       func(s *SSH, _ *[]string) { s.Args[1] += "-new" },
		"Connection refused":         func(s *SSH, h *[]string) { *h = []string{"ssh://127.0.0.1:1"} },
		"is no host or argument":     func(s *SSH, h *[]string) { *h = []string{"-oProxyCommand=x y"} },
		"cannot be compared":         func(s *SSH, _ *[]string) { s.Version = "$(id)" },
		"that hosts get a copy of":   func(s *SSH, _ *[]string) { s.Program = "/no/such" },
		"exit status 3; its last wo": func(s *SSH, _ *[]string) { s.Program = home + "/crash" },
	} {
		crash := "#!/bin/sh\nread join\necho out of memory >&2\nexit 3\n"
		if err := os.WriteFile(home+"/crash", []byte(crash), 0o700); err != nil {
			t.Fatal(err)
		}
		s, hosts := SSH{Args: []string{"-F", config}, Program: os.Args[0]}, []string{host}
		set(&s, &hosts)
		start := time.Now()
		ps, err := s.Start(t.Context(), hosts, j)
		if err == nil {
			err = await(t, ps.Exits()).Err
			ps.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), want) || time.Since(start) > 20*time.Second {
			t.Errorf("error %v, want %q", err, want)
		}
		t.Logf("%s", err)
	}
}

// freePort is one on which nothing listens at the moment.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
