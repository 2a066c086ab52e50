package collect

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// confirmAfter is how much later somebody else's connection must still be there: one of the
// process itself that was opened or closed while the tables were read looks like it. Chosen.
const confirmAfter = 20 * time.Millisecond

// callersOf looks who is connected to the ports on which a process accepts TCP connections, but
// for the sockets below a folder, which are loupe's own. Where it accepts or takes something
// else, or its files cannot be seen, that is all it says.
func callersOf(pid int, own string) callers {
	c, strange := lookForCallers(pid, own)
	if len(strange) == 0 {
		return c
	}
	time.Sleep(confirmAfter)
	again, still := lookForCallers(pid, own)
	again.itself, again.before = again.itself || c.itself, again.before || c.before
	for at := range strange {
		again.others = again.others || still[at]
	}
	return again
}

// lookForCallers is one look. The strange connections, by both of their ends, are those whose
// other end is not seen to be the process's.
func lookForCallers(pid int, own string) (c callers, strange map[string]bool) {
	if listens, known := listensBesidesTCP(pid, own); listens || !known {
		return callers{}, nil
	}
	inodes := socketInodes(pid)
	sockets := listeners(pid)
	if !slices.ContainsFunc(sockets, func(l listener) bool { return inodes[l.inode] }) {
		return callers{known: true, private: true, hidden: true}, nil
	}
	connections, closed := connectionsOf(pid)
	for inode := range socketInodes(pid) { // what came meanwhile
		inodes[inode] = true
	}
	c = callers{known: true, private: true, hidden: true}
	low, high := portsOfKernel()
	accepting := map[int][]net.IP{}
	for _, l := range sockets {
		if !inodes[l.inode] {
			continue
		}
		accepting[l.port] = append(accepting[l.port], l.ip)
		chosen := low <= l.port && l.port <= high
		c.private = c.private && (chosen || l.ip.IsLoopback())
		c.hidden = c.hidden && chosen && l.ip.IsLoopback()
	}
	strange = map[string]bool{}
	for ends, at := range connections {
		if !accepts(accepting, at.ip, at.port) {
			continue
		}
		near, ok := connections[ends.turned()]
		if ok && inodes[near.inode] {
			c.itself = true
		} else {
			strange[ends.from+" "+ends.to] = true
		}
	}
	for _, at := range closed {
		c.before = c.before || accepts(accepting, at.ip, at.port)
	}
	return c, strange
}

// accepts tells whether one of the listening sockets, by their ports, is meant by an address.
func accepts(sockets map[int][]net.IP, ip net.IP, port int) bool {
	for _, at := range sockets[port] {
		if at.IsUnspecified() || at.Equal(ip) {
			return true
		}
	}
	return false
}

// ends are the addresses of a connection, as seen from one of them.
type ends struct{ from, to string }

func (e ends) turned() ends { return ends{e.to, e.from} }

// connectionsOf are the TCP connections in the network namespace of a process: those that are open, each
// from both of its ends where both are in it, with the socket at the end that is named first; and both
// ends of those that were closed a moment ago.
func connectionsOf(pid int) (all map[ends]listener, closed []listener) {
	all = map[ends]listener{}
	for _, name := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			const open, timeWait = "01", "06"
			if len(f) < 10 || f[3] != open && f[3] != timeWait {
				continue
			}
			ip, port := procAddress(f[1])
			inode, err := strconv.ParseUint(f[9], 10, 64)
			if err != nil || ip == nil {
				continue
			}
			if f[3] == timeWait {
				farIP, farPort := procAddress(f[2])
				closed = append(closed, listener{ip: ip, port: port}, listener{ip: farIP, port: farPort})
				continue
			}
			all[ends{plainEnd(f[1]), plainEnd(f[2])}] = listener{ip, port, inode}
		}
	}
	return all, closed
}

// plainEnd is an address of the tables of the kernel, the same for one of IPv4 that is that of a socket of both versions.
func plainEnd(address string) string {
	const both = "0000000000000000FFFF0000"
	return strings.TrimPrefix(address, both)
}

// portsOfKernel are those from which the kernel chooses where a program leaves it the choice.
func portsOfKernel() (low, high int) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if n, _ := fmt.Sscan(string(text), &low, &high); err != nil || n != 2 {
		return 32768, 60999 // its defaults
	}
	return low, high
}
