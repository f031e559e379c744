//go:build !unix

package loadgen

import "net"

// alive cannot tell here. A connection that the server has closed is found out by the request, which is sent again.
func alive(*link) bool { return true }

// waiting cannot tell either.
func waiting(net.Conn) bool { return false }
