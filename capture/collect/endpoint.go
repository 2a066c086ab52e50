package collect

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"
)

// Endpoint is where a load connects to: "tcp" and host:port, or "unix" and the path of a socket.
type Endpoint struct{ Network, Address string }

// TCP is the endpoint of host:port.
func TCP(address string) Endpoint { return Endpoint{"tcp", address} }

// String is the address without its network.
func (e Endpoint) String() string { return e.Address }

// dial opens a connection.
func (e Endpoint) dial(ctx context.Context, within time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var d net.Dialer
	return d.DialContext(ctx, e.Network, e.Address)
}

// which says for an error what may be wrong with the address.
func (e Endpoint) which() string {
	if e.Network == "unix" {
		return "path"
	}
	return "port"
}

// markEnv names the variable by which every process is known that has come from one that loupe
// has started, wherever it is now.
const markEnv = "LOUPE_STARTED_BY"

// newMark is the variable with a value that no other start has. Each is of the same length, so
// that what the environment takes of the stack is the same in each run.
func newMark() string {
	return fmt.Sprintf("%s=%010d-%020d", markEnv, os.Getpid(), time.Now().UnixNano())
}
