// Package link is the wire of a fleet: how the coordinator of a run and its workers find each other, talk, compare
// their clocks, and copy the journals of the workers.
//
// Messages go by NATS without JetStream: nothing is stored on the way, so a message is delivered once or lost. Each is
// sealed with the key of the run. What must not be lost is a file on the worker's disk, which a [Source] tells of and a
// [Replica] fetches.
package link

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// Wire carries messages between the coordinator and the workers of one run. Subjects are words with dots between, such
// as worker.3.journal. Its methods may be called from any goroutine. [Conn] is the one over NATS.
type Wire interface {
	// Publish sends a message to all that handle its subject. It keeps nothing: without a connection it fails.
	Publish(subject string, data []byte) error
	// Request sends a message and waits for one answer to it, or until the context is done.
	Request(ctx context.Context, subject string, data []byte) ([]byte, error)
	// Handle calls a function with each message on a subject, in which * is any word, one after another. What it
	// returns is the answer to a request, nil is none. The data is the function's to keep.
	Handle(subject string, take func(subject string, data []byte) []byte) (stop func(), err error)
	// MaxPayload is how many bytes a message may have.
	MaxPayload() int
}

// ErrDisconnected is the error of what needs a connection while there is none.
var ErrDisconnected = errors.New("the connection is down at the moment")

// ErrNobody is the error of a request on a subject that nobody handles.
var ErrNobody = errors.New("nobody answers")

// Options are those of a connection. The zero value is fine.
type Options struct {
	Name string // as the server shows it
	// Server is one of ours in this process, which is then reached without TCP.
	Server *Server
	// State is told of each loss of the connection with its error, and of each return with nil, one after another.
	State func(error)
}

// Conn is a connection to the servers of a run. It comes back by itself, for ever; what is sent meanwhile fails.
type Conn struct {
	nats     *nats.Conn
	prefix   string // of subjects
	seal     cipher.AEAD
	closed   atomic.Bool
	unopened atomic.Int64
}

const (
	// patience is how long the first connection may take altogether, attempt how long an address may.
	patience, attempt = 30 * time.Second, 10 * time.Second
	// overhead of a sealed message in bytes: nonce and tag.
	overhead = 12 + 16
)

// Dial connects to the first address of a join that lets it. Its error says of each address what happened and what to
// try, after half a minute at most.
func Dial(ctx context.Context, j Join, o Options) (*Conn, error) {
	if err := j.check(); err != nil {
		return nil, fmt.Errorf("join string: %w", err)
	}
	block, err := aes.NewCipher(j.Key[:])
	if err != nil {
		return nil, err
	}
	c := &Conn{prefix: "benchtop." + j.Run + "."}
	if c.seal, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	options := c.options(j, o)
	var failed []error
	for _, address := range j.Addresses {
		d := &dialer{first: ctx}
		c.nats, err = nats.Connect("nats://"+address, append(options, nats.SetCustomDialer(d))...)
		if err == nil {
			d.later.Store(true)
			if o.Server == nil {
				_ = c.nats.SetServerPool(j.Addresses) // they were checked: for the way back, any of them will do
			}
			return c, nil
		}
		failed = append(failed, explain(address, j, errors.Join(err, ctx.Err())))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failed...)
}

func (c *Conn) options(j Join, o Options) []nats.Option {
	tell := func(err error) {
		if o.State != nil && !c.closed.Load() {
			o.State(err)
		}
	}
	options := []nats.Option{nats.Name(o.Name), nats.Timeout(attempt), nats.SkipHostLookup(),
		nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectJitter(250*time.Millisecond, 250*time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), nats.CustomInboxPrefix(c.prefix + "answer"),
		nats.ReconnectHandler(func(*nats.Conn) { tell(nil) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err == nil {
				err = ErrDisconnected
			}
			tell(err)
		}),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the default one writes to the terminal
	}
	switch l := j.Login; {
	case l.Token != "":
		options = append(options, nats.Token(l.Token))
	case l.User != "":
		options = append(options, nats.UserInfo(l.User, l.Password))
	case l.Credentials != "":
		options = append(options, nats.UserCredentialBytes([]byte(l.Credentials)))
	}
	switch {
	case o.Server != nil:
		options = append(options, o.Server.inside())
	case j.pinned():
		options = append(options, nats.Secure(j.pinning(time.Now)))
	case j.TLS:
		options = append(options, nats.Secure())
	}
	return options
}

// dialer obeys the context of the first connection until there is one.
type dialer struct {
	first context.Context
	later atomic.Bool
}

// Dial is called by the client of NATS, for each connection.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	ctx := d.first
	if d.later.Load() {
		ctx = context.WithoutCancel(ctx)
	}
	c, err := (&net.Dialer{Timeout: attempt}).DialContext(ctx, network, address)
	if err == nil {
		context.AfterFunc(ctx, func() {
			if !d.later.Load() {
				c.Close()
			}
		})
	}
	return c, err
}

// subject is that of a run, or an error if it is no subject.
func (c *Conn) subject(subject string) (string, error) {
	for word := range strings.SplitSeq(subject, ".") {
		if word == "" || strings.ContainsAny(word, " \t\r\n>") || len(word) > 1 && strings.Contains(word, "*") {
			return "", fmt.Errorf("%q is no subject: want words with dots between", subject)
		}
	}
	return c.prefix + subject, nil
}

// Publish implements [Wire].
func (c *Conn) Publish(subject string, data []byte) error {
	full, err := c.subject(subject)
	if err != nil {
		return err
	}
	return c.publish(full, data)
}

func (c *Conn) publish(full string, data []byte) error {
	sealed, err := c.sealed(full, data)
	if err != nil {
		return err
	}
	return c.failure(full, c.nats.Publish(full, sealed))
}

func (c *Conn) sealed(full string, data []byte) ([]byte, error) {
	if most := c.MaxPayload(); len(data) > most {
		return nil, fmt.Errorf("a message of %d bytes on %s is larger than the %d that the NATS server takes",
			len(data), full, most)
	}
	return c.seal.Seal(nil, nil, data, []byte(full)), nil
}

// Request implements [Wire].
func (c *Conn) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	full, err := c.subject(subject)
	if err != nil {
		return nil, err
	}
	sealed, err := c.sealed(full, data)
	if err != nil {
		return nil, err
	}
	m, err := c.nats.RequestWithContext(ctx, full, sealed)
	if err != nil {
		return nil, c.failure(full, err)
	}
	answer, ok := c.open(m)
	if !ok {
		return nil, fmt.Errorf("the answer on %s is not sealed with the key of the run", full)
	}
	return answer, nil
}

// Handle implements [Wire]. Messages that do not open are counted and go no further.
func (c *Conn) Handle(subject string, take func(subject string, data []byte) []byte) (stop func(), err error) {
	full, err := c.subject(subject)
	if err != nil {
		return nil, err
	}
	s, err := c.nats.Subscribe(full, func(m *nats.Msg) {
		data, ok := c.open(m)
		if !ok {
			return
		}
		if answer := take(strings.TrimPrefix(m.Subject, c.prefix), data); answer != nil &&
			strings.HasPrefix(m.Reply, c.prefix) {
			_ = c.publish(m.Reply, answer) // lost, as any message may be: whoever asked asks again
		}
	})
	if err != nil {
		return nil, c.failure(full, err)
	}
	if err := c.nats.FlushTimeout(attempt); err != nil && !c.nats.IsReconnecting() {
		return nil, c.failure(full, err)
	}
	return func() { _ = s.Unsubscribe() }, nil // fails where the connection is closed already
}

func (c *Conn) open(m *nats.Msg) ([]byte, bool) {
	data, err := c.seal.Open(nil, nil, m.Data, []byte(m.Subject))
	if err != nil {
		c.unopened.Add(1)
		return nil, false
	}
	if data == nil {
		data = []byte{}
	}
	return data, true
}

// failure is an error of the client of NATS in our words.
func (c *Conn) failure(full string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w on %s", ErrNobody, full)
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrDisconnected),
		errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, nats.ErrConnectionClosed):
		return fmt.Errorf("%s: %w", full, ErrDisconnected)
	}
	return fmt.Errorf("%s: %w", full, err)
}

// MaxPayload implements [Wire].
func (c *Conn) MaxPayload() int { return int(c.nats.MaxPayload()) - overhead }

// Unopened counts the messages that were not sealed with the key of the run, and dropped.
func (c *Conn) Unopened() int64 { return c.unopened.Load() }

// Close sends what was published, for a second at most, and ends the connection.
func (c *Conn) Close() {
	c.closed.Store(true)
	_ = c.nats.FlushTimeout(time.Second) // without a connection nothing more can be sent
	c.nats.Close()
}
