//go:build !unix

package conn

import "net"

// alive cannot tell here: the request finds out whether the server has closed the connection.
func alive(*Conn) bool { return true }

// waiting cannot tell either.
func waiting(net.Conn) bool { return false }
