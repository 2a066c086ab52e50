package collect

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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

// lookout finds out who accepts the connections of a load that is meant for a program.
type lookout struct {
	spots []spot
	name  string // of the program
	pid   int    // it was started as
	mark  string // is in the environment of what has come from it; may be empty
}

// spot is an endpoint with the addresses that its name stands for.
type spot struct {
	Endpoint
	ips  []net.IP // those of this machine
	port int
}

// newLookout looks up the names of the endpoints, once.
func newLookout(at []Endpoint, name string, pid int, mark string) *lookout {
	l := &lookout{name: name, pid: pid, mark: mark}
	for _, e := range at {
		s := spot{Endpoint: e}
		if e.Network == "tcp" {
			s.ips, s.port = ownAddresses(e.Address)
		}
		l.spots = append(l.spots, s)
	}
	return l
}

// String is the addresses.
func (l *lookout) String() string {
	var all []string
	for _, s := range l.spots {
		all = append(all, s.Address)
	}
	return strings.Join(all, " and ")
}

// sockets is the same for as long as the same sockets accept the connections, as far as that can be
// told at little cost.
func (l *lookout) sockets() string {
	var all []string
	table := listeners(os.Getpid())
	for _, s := range l.spots {
		if s.Network == "unix" {
			if info, err := os.Stat(s.Address); err == nil {
				all = append(all, fmt.Sprint(info.ModTime().UnixNano(), info.Sys().(*syscall.Stat_t).Ino))
			}
			continue
		}
		for _, ip := range s.ips {
			for _, o := range answering(table, ip, s.port) {
				all = append(all, strconv.FormatUint(o.inode, 10))
			}
		}
	}
	return strings.Join(all, " ")
}

// who finds the processes that accept the connections. The error wraps [ErrForeign]: somebody else
// does so, alone or besides. What cannot be seen, as the sockets of a program that has changed
// its user, is no reason for that.
//
// A process that another one has just started has the sockets of that one until it is another
// program. So one that has only begun is given a moment.
func (l *lookout) who() (serving, error) {
	for began := time.Now(); ; time.Sleep(lookAgain) {
		s, err := l.look()
		if err != nil || len(s.pids) < 2 {
			return s, err
		}
		settled := slices.DeleteFunc(slices.Clone(s.pids), func(pid int) bool { return justStarted(pid, s.pids, startTime) })
		if len(settled) == len(s.pids) || time.Since(began) > startTime+lookAgain {
			s.pids = settled
			return s, nil
		}
	}
}

// How long a process may take to become another program, chosen, and how often it is looked at
// meanwhile.
const (
	startTime = time.Second
	lookAgain = 50 * time.Millisecond
)

// justStarted tells whether one of some processes has been started by another of them, not longer ago
// than that.
func justStarted(pid int, pids []int, ago time.Duration) bool {
	stat, ok := readStat("/proc", pid)
	return ok && slices.Contains(pids, int(stat.number(statParent))) && time.Since(startOf(pid)) < ago
}

// look is who, as it is at this moment.
func (l *lookout) look() (serving, error) {
	var all serving
	family := familyOf(l.pid, l.mark)
	for i := range l.spots {
		one, err := l.at(&l.spots[i], family)
		if err != nil {
			return serving{}, err
		}
		all.pids = append(all.pids, one.pids...)
		all.hidden = cmp.Or(all.hidden, one.hidden)
		all.nobody = all.nobody || one.nobody
	}
	slices.Sort(all.pids)
	all.pids = slices.Compact(all.pids)
	return all, nil
}

// at finds those of one endpoint.
func (l *lookout) at(s *spot, family map[int]bool) (serving, error) {
	if s.Network == "unix" {
		return l.atSocket(s, family)
	}
	if len(s.ips) == 0 {
		return serving{hidden: "a process of another machine or container answers"}, nil
	}
	if _, err := os.ReadFile("/proc/self/net/tcp"); err != nil {
		return serving{}, nil // nothing is to be seen here
	}
	table := listeners(os.Getpid())
	var found []listener
	for _, ip := range s.ips {
		found = append(found, answering(table, ip, s.port)...)
	}
	if len(found) == 0 {
		return l.behind(s)
	}
	pids, foreign, seen := holders(found, family)
	switch {
	case len(foreign) == 0:
		return serving{pids: pids}, nil
	case !seen && len(family) == 1:
		return serving{}, nil // it is the program, which does not show its sockets
	case !seen:
		return serving{pids: pids, hidden: "a process that does not show its sockets to loupe answers"}, nil
	}
	holder := holderOf(map[uint64]bool{foreign[0].inode: true})
	if holder == 0 && !slices.ContainsFunc(listeners(os.Getpid()), func(o listener) bool { return o.inode == foreign[0].inode }) {
		return serving{pids: pids, nobody: len(pids) == 0}, nil // it is gone
	}
	if forwards(holder, s.port) {
		return serving{pids: pids, hidden: "a container answers"}, nil
	}
	return serving{}, foreigner{s.Endpoint, l.name, holder}
}

// behind tells of an endpoint that no process of this machine listens on whether one answers all
// the same: the kernel may pass connections on to a container.
func (l *lookout) behind(s *spot) (serving, error) {
	c, err := s.dial(context.Background(), time.Second)
	if err != nil {
		return serving{nobody: true}, nil
	}
	c.Close()
	return serving{hidden: "a process that is not to be seen answers"}, nil
}

// atSocket finds those that accept connections of a Unix socket: who has begun to listen, which the
// kernel tells when one is made, and who of the family has that socket as well.
func (l *lookout) atSocket(s *spot, family map[int]bool) (serving, error) {
	c, err := s.dial(context.Background(), time.Second)
	if err != nil {
		return serving{nobody: true}, nil
	}
	defer c.Close()
	peer := 0
	if raw, err := c.(*net.UnixConn).SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
				peer = int(cred.Pid)
			}
		})
	}
	if peer == 0 {
		return serving{hidden: "a process of a container answers"}, nil
	}
	var found []listener
	for _, inode := range unixListeners(s.Address) {
		found = append(found, listener{inode: inode})
	}
	pids, _, seen := holders(found, family)
	switch {
	case family[peer] && len(pids) > 0:
		return serving{pids: pids}, nil
	case family[peer]:
		return serving{pids: []int{peer}}, nil
	case !ProcessExists(peer) && len(pids) > 0: // it has handed the socket on
		return serving{pids: pids}, nil
	case !ProcessExists(peer) || !seen:
		return serving{hidden: "a process that is not to be seen answers"}, nil
	}
	return serving{}, foreigner{s.Endpoint, l.name, peer}
}

// unixListeners are the sockets that accept connections and were bound to a path, by the table of
// all of them; the program may have named it from its own folder.
func unixListeners(path string) (inodes []uint64) {
	text, err := os.ReadFile("/proc/self/net/unix")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		const accepts = "00010000" // __SO_ACCEPTCON
		if len(f) != 8 || f[3] != accepts || filepath.Base(f[7]) != filepath.Base(path) {
			continue
		}
		if inode, err := strconv.ParseUint(f[6], 10, 64); err == nil {
			inodes = append(inodes, inode)
		}
	}
	return inodes
}

// holders are the processes of a family that hold sockets, and the sockets that none of them holds;
// seen is false where one of the family does not show its own.
func holders(sockets []listener, family map[int]bool) (pids []int, foreign []listener, seen bool) {
	seen = true
	held := map[uint64]bool{}
	for pid := range family {
		if _, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); os.IsPermission(err) {
			seen = false
		}
		inodes := socketInodes(pid)
		if slices.ContainsFunc(sockets, func(l listener) bool { return inodes[l.inode] }) {
			pids = append(pids, pid)
		}
		for _, l := range sockets {
			held[l.inode] = held[l.inode] || inodes[l.inode]
		}
	}
	for _, l := range sockets {
		if !held[l.inode] {
			foreign = append(foreign, l)
		}
	}
	slices.Sort(pids)
	return pids, foreign, seen
}

// familyOf is a process with all that have come from it, and those of its process group, by what is
// there now.
func familyOf(pid int, mark string) map[int]bool {
	f := newFamily(pid, mark)
	f.groups = true
	f.look(0)
	all := map[int]bool{pid: true}
	for p := range f.members {
		all[p] = true
	}
	return all
}

// marked are the processes that were started with a mark in their environment; none where it is empty.
func marked(mark string) (pids []int) {
	if mark == "" {
		return nil
	}
	for _, p := range allProcesses() {
		if hasMark("/proc", p, mark) && ProcessExists(p) {
			pids = append(pids, p)
		}
	}
	slices.Sort(pids)
	return pids
}

// commandOf is the name of a process, empty where it is not known.
func commandOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// startOf is when a process began, to some hundredths of a second.
func startOf(pid int) time.Time {
	stat, ok := readStat("/proc", pid)
	var now unix.Timespec
	if !ok || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return time.Now()
	}
	return time.Now().Add(time.Duration(stat.number(statStart))*tick - time.Duration(now.Nano()))
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
