//go:build !fleet

package link

import (
	"errors"

	"github.com/nats-io/nats.go"
)

// Server would be a NATS server in this process. It is not built in: a build from nothing takes a quarter longer with
// it.
type Server struct{}

var errAbsent = errors.New("this benchtop is built without a NATS server of its own;" +
	" build it with go build -tags fleet, or name a server that is there, as nats://HOST:PORT")

// Listen fails, and says how to get a server.
func Listen(string, int) (*Server, error) { return nil, errAbsent }

// Join fails like Listen.
func (s *Server) Join(string, ...string) (Join, error) { return Join{}, errAbsent }

// Port is none.
func (s *Server) Port() int { return 0 }

// Close has nothing to end.
func (s *Server) Close() {}

func (s *Server) inside() nats.Option { return func(*nats.Options) error { return errAbsent } }
