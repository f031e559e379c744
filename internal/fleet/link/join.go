package link

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Join is what a worker needs to know to take part in a run. Its string is a secret as a whole: it holds the key of the
// run and the login of the server.
type Join struct {
	Addresses []string // of the NATS servers, host:port, the preferred one first
	Run       string   // letters, digits, - and _
	Login     Login
	TLS       bool              // the certificate is of an authority that this machine trusts
	Pin       [sha256.Size]byte // the SHA-256 of the server's certificate; zero for none
	Key       [32]byte          // seals each message of the run
	Worker    int               // the number of the worker that the machine that leads started, from 1; 0 for any other
}

// Login is what a NATS server asks for: one of a token, a user with a password, credentials, or nothing.
type Login struct {
	Token          string
	User, Password string
	Credentials    string // the content of a file of credentials: a JWT and a seed
}

const (
	scheme = "benchtop://"
	// longest join string, and most addresses in it: far more than any has, so that foreign bytes cost little.
	longest, mostAddresses = 16 << 10, 64
	defaultPort            = "4222" // of NATS
)

var runID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// External is the join of a run through servers that exist already. Addresses are those of NATS, with commas between:
// nats://[TOKEN@|USER:PASSWORD@]HOST[:PORT], or tls:// for a certificate that this machine trusts. Credentials is the
// content of a file of credentials or empty, pin the SHA-256 of the server's certificate in hex or empty.
func External(run, addresses, credentials, pin string) (Join, error) {
	j := Join{Run: run, Login: Login{Credentials: credentials}}
	rand.Read(j.Key[:])
	for _, address := range strings.Split(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" ||
			strings.Trim(u.Path, "/") != "" {
			return Join{}, errors.New("address of a NATS server: want nats://HOST:PORT or tls://HOST:PORT," +
				" perhaps with TOKEN@ or USER:PASSWORD@ before HOST")
		}
		port := cmp.Or(u.Port(), defaultPort)
		j.Addresses = append(j.Addresses, net.JoinHostPort(u.Hostname(), port))
		j.TLS = j.TLS || u.Scheme == "tls"
		if u.User != nil {
			password, two := u.User.Password()
			j.Login.Token, j.Login.User, j.Login.Password = "", u.User.Username(), password
			if !two {
				j.Login.Token, j.Login.User = j.Login.User, ""
			}
		}
	}
	if pin != "" {
		if err := j.set("pin", strings.ReplaceAll(strings.ToLower(pin), ":", "")); err != nil {
			return Join{}, fmt.Errorf("fingerprint of a NATS server: %w", err)
		}
		j.TLS = false
	}
	return j, j.check()
}

// String is the join in one line without a character that a shell reads otherwise, which [ParseJoin] reads:
//
//	benchtop://HOST:PORT,HOST:PORT/run=ID/token=TOKEN/pin=SHA256/key=KEY
//
// It is a secret: hand it on by standard input, and do not show it but to the user who asks for it.
func (j Join) String() string {
	b := scheme + strings.Join(j.Addresses, ",")
	part := func(name, value string) {
		if value != "" {
			b += "/" + name + "=" + url.QueryEscape(value)
		}
	}
	part("run", j.Run)
	part("token", j.Login.Token)
	part("user", j.Login.User)
	part("password", j.Login.Password)
	part("credentials", j.Login.Credentials)
	if j.TLS {
		part("tls", "system")
	}
	if j.pinned() {
		part("pin", hex.EncodeToString(j.Pin[:]))
	}
	part("key", base64.RawURLEncoding.EncodeToString(j.Key[:]))
	if j.Worker > 0 {
		part("worker", strconv.Itoa(j.Worker))
	}
	return b
}

func (j Join) pinned() bool { return j.Pin != [sha256.Size]byte{} }

// ParseJoin reads a join string. Its errors name the part that is wrong, never its value.
func ParseJoin(s string) (Join, error) {
	j, err := parseJoin(strings.TrimSpace(s))
	if err != nil {
		return Join{}, fmt.Errorf("join string: %w; copy it again, whole and in one line", err)
	}
	return j, nil
}

func parseJoin(s string) (j Join, err error) {
	rest, ok := strings.CutPrefix(s, scheme)
	switch {
	case s == "":
		return j, errors.New("it is empty")
	case !ok:
		return j, fmt.Errorf("it does not begin with %s", scheme)
	case len(s) > longest:
		return j, fmt.Errorf("it has %d bytes, more than %d", len(s), longest)
	case strings.ContainsAny(s, " \t\r\n"):
		return j, errors.New("it has a space or a new line in it")
	}
	addresses, rest, _ := strings.Cut(rest, "/")
	j.Addresses = strings.Split(addresses, ",")
	var seen []string
	for i, part := range strings.Split(rest, "/") {
		name, escaped, _ := strings.Cut(part, "=")
		value, err := url.QueryUnescape(escaped)
		switch {
		case err != nil || value == "":
			return j, fmt.Errorf("part %d after the addresses has no value that can be read", i+1)
		case slices.Contains(seen, name):
			return j, fmt.Errorf("part %d after the addresses is there twice", i+1)
		}
		seen = append(seen, name)
		if err := j.set(name, value); err != nil {
			return j, fmt.Errorf("part %d after the addresses: %w", i+1, err)
		}
	}
	if !slices.Contains(seen, "key") {
		return j, errors.New("its key is missing")
	}
	return j, j.check()
}

// set reads the value of one part.
func (j *Join) set(name, value string) error {
	switch name {
	case "run":
		j.Run = value
	case "token":
		j.Login.Token = value
	case "user":
		j.Login.User = value
	case "password":
		j.Login.Password = value
	case "credentials":
		j.Login.Credentials = value
	case "tls":
		if value != "system" {
			return errors.New("tls is not system")
		}
		j.TLS = true
	case "pin":
		b, err := hex.DecodeString(value)
		if err != nil || copy(j.Pin[:], b) != len(b) || len(b) != len(j.Pin) || !j.pinned() {
			return errors.New("the fingerprint is not a SHA-256 of 64 hex digits")
		}
	case "key":
		b, err := base64.RawURLEncoding.Strict().DecodeString(value)
		if err != nil || len(b) != len(j.Key) {
			return errors.New("the key is not 32 bytes of base64")
		}
		copy(j.Key[:], b)
	case "worker":
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil || n == 0 {
			return errors.New("the number of the worker is none")
		}
		j.Worker = int(n)
	default:
		return errors.New("it is unknown, perhaps of a newer version of benchtop")
	}
	return nil
}

// check finds what is wrong with a join, however it was made.
func (j Join) check() error {
	if !runID.MatchString(j.Run) {
		return errors.New("the run ID is not 1 to 64 letters, digits, - and _")
	}
	if n := len(j.Addresses); n > mostAddresses {
		return fmt.Errorf("it has %d addresses, more than %d", n, mostAddresses)
	}
	for i, address := range j.Addresses {
		host, port, err := net.SplitHostPort(address)
		n, bad := strconv.ParseUint(port, 10, 16)
		if err != nil || bad != nil || n == 0 || host == "" || strings.ContainsAny(host, "/@?#%, ") {
			return fmt.Errorf("address %d is not HOST:PORT", i+1)
		}
	}
	if j.TLS && j.pinned() {
		return errors.New("it has both the fingerprint of a certificate and trust in those of authorities")
	}
	kinds := 0
	for _, has := range []bool{j.Login.Token != "", j.Login.User != "", j.Login.Credentials != ""} {
		if has {
			kinds++
		}
	}
	if kinds > 1 || j.Login.Password != "" && j.Login.User == "" {
		return errors.New("the login is not one of a token, a user with a password, and credentials")
	}
	return nil
}
