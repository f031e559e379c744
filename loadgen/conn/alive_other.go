//go:build !unix

package conn

import "net"

// alive is always true: here the request fails if the server has closed the connection.
func alive(*Conn) bool { return true }

// waiting is always false here.
func waiting(net.Conn) bool { return false }
