package collect

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// listener is a socket that accepts TCP connections.
type listener struct {
	ip    net.IP // unspecified for all addresses
	port  int
	inode uint64
}

// answering are the listeners of those in all that a connection to ip and port
// may reach. An exact address comes before all addresses, and 0.0.0.0 before
// the :: that takes connections of IPv4 too; equals share the connections
// (SO_REUSEPORT).
func answering(all []listener, ip net.IP, port int) (found []listener) {
	best := 0
	for _, l := range all {
		rank := 0
		switch v4 := ip.To4() != nil; {
		case l.port != port:
		case l.ip.Equal(ip):
			rank = 3
		case l.ip.IsUnspecified() && (l.ip.To4() != nil) == v4:
			rank = 2
		case l.ip.IsUnspecified() && v4:
			rank = 1
		}
		if rank > best {
			best, found = rank, nil
		}
		if rank > 0 && rank == best {
			found = append(found, l)
		}
	}
	return found
}

// ownAddresses are those of hostport that belong to this machine, and the port.
func ownAddresses(hostport string) (ips []net.IP, port int) {
	host, service, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, 0
	}
	if port, err = strconv.Atoi(service); err != nil {
		return nil, 0
	}
	all := []net.IP{net.ParseIP(host)}
	if all[0] == nil {
		if all, err = net.LookupIP(host); err != nil {
			return nil, 0
		}
	}
	mine, _ := net.InterfaceAddrs()
	for _, ip := range all {
		own := ip.IsLoopback()
		for _, a := range mine {
			n, ok := a.(*net.IPNet)
			own = own || ok && n.IP.Equal(ip)
		}
		if own {
			ips = append(ips, ip)
		}
	}
	return ips, port
}

// foreignError says who listens instead of the program of a name.
func foreignError(addr, name string, pid int) error {
	who := "a process of another user"
	if pid > 0 {
		who = fmt.Sprintf("process %d (%s)", pid, processName(pid))
	}
	return fmt.Errorf("%w: %s accepts connections on %s, but the load is meant for %s (stop that process, or give the program and the URL another port)", ErrForeign, who, addr, name)
}

// reachesOnly fails when a connection to addr may reach a process that does not
// belong to the one that was started as pid, with mark in its environment, if that
// is not empty. The program that is meant has name. What cannot be seen, as the sockets of a program that has changed its
// user, is no reason to fail.
func reachesOnly(addr, name string, pid int, mark string) error {
	ips, port := ownAddresses(addr)
	all := listeners(os.Getpid())
	var foreign []listener
	family, sockets, seen := map[int]bool{}, map[uint64]bool{}, true
	for _, ip := range ips {
		for _, l := range answering(all, ip, port) {
			if len(family) == 0 {
				family = familyOf(pid, mark)
				sockets, seen = socketsOf(family)
			}
			if !sockets[l.inode] {
				foreign = append(foreign, l)
			}
		}
	}
	if len(foreign) == 0 || !seen {
		return nil
	}
	holder := holderOf(map[uint64]bool{foreign[0].inode: true})
	if holder == 0 && !slices.ContainsFunc(listeners(os.Getpid()), func(l listener) bool { return l.inode == foreign[0].inode }) {
		return nil // it is gone
	}
	if forwards(holder, port) {
		return nil
	}
	return foreignError(addr, name, holder)
}

// socketsOf are the sockets of processes; seen is false where one of them does
// not show its own.
func socketsOf(family map[int]bool) (sockets map[uint64]bool, seen bool) {
	sockets, seen = map[uint64]bool{}, true
	for pid := range family {
		if _, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); os.IsPermission(err) {
			seen = false
		}
		for inode := range socketInodes(pid) {
			sockets[inode] = true
		}
	}
	return sockets, seen
}

// familyOf is a process with all that have come from it: its descendants, those of its
// process group, and those that were started with its mark, wherever they are now.
func familyOf(pid int, mark string) map[int]bool {
	all := allProcesses()
	parents, groups := map[int]int{}, map[int]int{}
	for _, p := range all {
		parents[p], groups[p] = parentOf(p)
	}
	family := map[int]bool{pid: true}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if !family[p] && (family[parents[p]] || groups[p] == pid) {
				family[p], grew = true, true
			}
		}
	}
	for _, p := range all {
		if family[p] || mark == "" {
			continue
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p))
		if err == nil && slices.ContainsFunc(bytes.Split(env, []byte{0}), func(kv []byte) bool { return string(kv) == mark }) {
			family[p] = true
		}
	}
	return family
}

// parentOf reads the parent and the process group of a process (proc_pid_stat(5)).
func parentOf(pid int) (parent, group int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // behind the name
	if len(f) < 3 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(f[1])
	group, _ = strconv.Atoi(f[2])
	return parent, group
}

// forwarders are the programs that listen for a container in its stead.
var forwarders = []string{"docker-proxy", "rootlessport", "pasta", "slirp4netns", "gvproxy"}

// forwards tells whether the process that listens on a port, 0 where that is not known, only
// passes connections on to a container.
func forwards(pid, port int) bool {
	pids := []int{pid}
	if pid == 0 {
		pids = allProcesses()
	}
	for _, p := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
		if err != nil {
			continue
		}
		words := strings.Split(string(line), "\x00")
		name := words[0][strings.LastIndexByte(words[0], '/')+1:]
		if slices.ContainsFunc(forwarders, func(f string) bool { return strings.HasPrefix(name, f) }) &&
			(pid != 0 || slices.Contains(words, strconv.Itoa(port))) {
			return true
		}
	}
	return false
}
