package link

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
)

const (
	pinText = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	keyText = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
)

func TestJoin(t *testing.T) {
	credentials := "-----BEGIN NATS USER JWT-----\neyJ0/+=\n------END NATS USER JWT------\n"
	all := []Join{
		{Addresses: []string{"10.0.0.7:4222", "[::1]:65535", "host.example:1"}, Run: "a-B_9",
			Login: Login{Token: "t&$ /=,"}, Worker: 17},
		{Addresses: []string{"h:1"}, Run: "r", Login: Login{User: "u@/", Password: "p:\n%"}, TLS: true},
		{Addresses: []string{"h:1"}, Run: "r", Login: Login{Credentials: credentials}},
	}
	rand.Read(all[0].Pin[:])
	for _, j := range all {
		rand.Read(j.Key[:])
		s := j.String()
		assert.Equal(t, cmp.Diff(j, assert.Must(ParseJoin("  "+s+"\r\n"))(t)), "", "%s", s)
		if strings.ContainsAny(s, " &;$'\"?*<>|\\`()!#") {
			t.Errorf("%s: a shell reads some of it otherwise", s)
		}
	}
}

func TestExternal(t *testing.T) {
	for in, want := range map[string]Join{
		"nats://h":                      {Addresses: []string{"h:4222"}},
		"tls://h:1, tls://[::1]":        {Addresses: []string{"h:1", "[::1]:4222"}, TLS: true},
		"nats://u:p%2F@h:1,nats://h2:2": {Addresses: []string{"h:1", "h2:2"}, Login: Login{User: "u", Password: "p/"}},
		"nats://tok@h":                  {Addresses: []string{"h:4222"}, Login: Login{Token: "tok"}},
	} {
		j, err := External("r", in, "", "")
		want.Run, want.Key = "r", j.Key
		if err != nil || cmp.Diff(want, j) != "" || j.Key == [32]byte{} {
			t.Errorf("%s: error %v, differs: %s", in, err, cmp.Diff(want, j))
		}
	}
	j, err := External("r", "tls://h", "jwt", strings.ToUpper(pinText[:2])+":"+pinText[2:])
	if err != nil || j.TLS || j.Pin[1] != 0x11 || j.Login.Credentials != "jwt" {
		t.Errorf("%+v, error %v", j, err)
	}
	for _, in := range []string{"", "h:1", "http://h", "nats://", "nats://h/path", "nats://s3cret:s3cret@h:99999",
		"nats://s3cret:%zz@h", "nats://h,"} {
		if _, err := External("r", in, "", ""); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: error %v", in, err)
		}
	}
	if _, err := External("r", "nats://h", "", "abc"); err == nil {
		t.Error("a fingerprint of three digits")
	}
	if _, err := External("r", "nats://tok@h", "jwt", ""); err == nil {
		t.Error("two logins")
	}
	if _, err := External("r.>", "nats://h", "", ""); err == nil {
		t.Error("a run ID that is a wildcard")
	}
}

// Errors say which part is wrong, and never show a value.
func TestParseJoinErrors(t *testing.T) {
	good := "benchtop://h:1/run=r/token=s3cret/key=" + keyText
	assert.Must(ParseJoin(good))(t)
	long := strings.Repeat("h:1,", mostAddresses)
	for in, want := range map[string]string{
		"":                                                    "is empty",
		"nats://s3cret@h:1":                                   "does not begin with benchtop://",
		"benchtop://h:1/run=r/token=s3cret":                   "key is missing",
		"benchtop://h:1":                                      "part 1 after the addresses has no value",
		good + "/token=s3cret":                                "part 4 after the addresses is there twice",
		good + "/s3cret":                                      "no value",
		good + "/s3cret=s3cret":                               "unknown, perhaps of a newer version",
		good + "/pin=s3cret":                                  "fingerprint is not a SHA-256",
		good + "/pin=" + pinText[2:]:                          "fingerprint is not a SHA-256",
		good + "/pin=" + pinText + "00":                       "fingerprint is not a SHA-256",
		good + "/tls=s3cret":                                  "tls is not system",
		good + "/tls=system/pin=" + pinText:                   "both",
		good + "/user=s3cret":                                 "the login is not one of",
		good + "/password=s3cret":                             "the login is not one of",
		good[:len(good)-1]:                                    "key is not 32 bytes",
		good + "AA":                                           "key is not 32 bytes",
		good[:30] + "\n" + good[30:]:                          "a new line in it",
		strings.Replace(good, "=r/", "=/", 1):                 "part 1 after the addresses has no value",
		strings.Replace(good, "=r/", "=%2e*/", 1):             "run ID is not",
		strings.Replace(good, "h:1", "s3cret", 1):             "address 1 is not HOST:PORT",
		strings.Replace(good, "h:1", "h:1,h:0", 1):            "address 2 is not HOST:PORT",
		strings.Replace(good, "h:1", "s3cret@h:1", 1):         "address 1 is not HOST:PORT",
		strings.Replace(good, "h:1", long+"h:1", 1):           "65 addresses",
		good + "/user=" + strings.Repeat("s3cret", longest/6): "bytes, more than 16384",
	} {
		_, err := ParseJoin(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: error %v, want %q", in, err, want)
		} else if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), keyText[:9]) {
			t.Errorf("%.80q: a secret in %v", in, err)
		}
	}
}

func FuzzParseJoin(f *testing.F) {
	f.Add("benchtop://h:1,[::1]:2/run=r/token=t/pin=" + pinText + "/key=" + keyText)
	f.Add("benchtop://h:1/run=r/user=u/password=p%20/tls=system/key=" + keyText)
	f.Add("benchtop://h:1/run=r/credentials=a+b/key=" + base64.RawURLEncoding.EncodeToString(make([]byte, 32)))
	f.Fuzz(func(t *testing.T, s string) {
		j, err := ParseJoin(s)
		if err != nil {
			return
		}
		back, err := ParseJoin(j.String())
		if err != nil || cmp.Diff(j, back) != "" {
			t.Errorf("error %v, differs: %s", err, cmp.Diff(j, back))
		}
	})
}
