package load

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// What a host that is not ours may be sent without being asked twice.
const (
	politeRate        = 1000 // requests a second
	politeConnections = 50
)

// RemoteError refuses heavy load on a host that is neither this machine nor in
// a private network, because it may be somebody else's. Config.Remote allows
// it.
type RemoteError struct {
	Host    string
	Address netip.Addr
}

// Error says what was refused.
func (e *RemoteError) Error() string {
	return fmt.Sprintf("cannot send this load to %s (%s): it is neither this machine nor in a private network, and more than %d requests a second or %d connections were asked for",
		e.Host, e.Address, politeRate, politeConnections)
}

// checkRemote refuses load that could hurt someone.
func (r *run) checkRemote(ctx context.Context) error {
	heavy := r.Concurrency > politeConnections
	if r.Plan != nil {
		heavy = r.Plan.Peak() > politeRate
	}
	if r.Remote || !heavy || r.Unix != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, o := range r.origins {
		host := hostOf(cmp.Or(r.ConnectTo[o.address], o.address))
		addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			continue // the requests tell
		}
		for _, a := range addresses {
			if a = a.Unmap(); !near(a) {
				return &RemoteError{Host: host, Address: a}
			}
		}
	}
	return nil
}

// shared is the space of carriers' own networks (RFC 6598), which clouds use
// inside too.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// near tells whether an address is of this machine or of a private network.
func near(a netip.Addr) bool {
	if a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified() || shared.Contains(a) {
		return true
	}
	own, _ := net.InterfaceAddrs()
	for _, o := range own {
		if p, err := netip.ParsePrefix(o.String()); err == nil && p.Addr().Unmap() == a {
			return true
		}
	}
	return false
}
