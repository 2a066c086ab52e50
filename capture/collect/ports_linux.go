package collect

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ProcessExists tells whether a local process has that number. One that has ended and
// that its parent has not yet asked for is no more.
func ProcessExists(pid int) bool {
	stat, ok := readStat("/proc", pid)
	if !ok {
		return false
	}
	state := stat[statState-statFirst][0]
	return state != 'Z' && state != 'X'
}

// listeningPorts lists the addresses on which a process accepts TCP
// connections, as "host:port" that can be dialled, in ascending order. It is
// empty when the process is gone or belongs to somebody else.
func listeningPorts(pid int) []string {
	inodes := socketInodes(pid)
	if len(inodes) == 0 {
		return nil
	}
	var found []string
	eachListener(pid, func(addr string, inode uint64) {
		if inodes[inode] && !slices.Contains(found, addr) {
			found = append(found, addr)
		}
	})
	slices.Sort(found)
	return found
}

// listensAnywhere tells whether a process accepts connections, over TCP or a socket
// of the file system, or takes datagrams from anybody. The sockets below a folder, which
// are loupe's own, do not count. known is false where its files cannot be seen.
func listensAnywhere(pid int, own string) (listens, known bool) {
	if _, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err != nil {
		return false, false
	}
	inodes := socketInodes(pid)
	eachListener(pid, func(_ string, inode uint64) { listens = listens || inodes[inode] })
	if listens {
		return true, true
	}
	return listensBesidesTCP(pid, own)
}

// listensBesidesTCP is the same of sockets of the file system and of datagrams alone.
func listensBesidesTCP(pid int, own string) (listens, known bool) {
	if _, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err != nil {
		return false, false
	}
	inodes := socketInodes(pid)
	if len(inodes) == 0 {
		return false, true
	}
	const (
		accepts = "00010000" // __SO_ACCEPTCON in the column of flags
		open    = "07"       // a datagram socket that is connected to nobody
	)
	for _, table := range []struct {
		name          string
		column, inode int
		value         string
	}{{"unix", 3, 6, accepts}, {"udp", 3, 9, open}, {"udp6", 3, 9, open}} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table.name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) <= max(table.column, table.inode) || f[table.column] != table.value || strings.HasPrefix(f[len(f)-1], own) {
				continue
			}
			inode, err := strconv.ParseUint(f[table.inode], 10, 64)
			listens = listens || err == nil && inodes[inode]
		}
	}
	return listens, true
}

// listenerPID finds the local process that accepts the connections to an endpoint: 0 when
// it is not on this machine or not to be seen, and when there are several.
func listenerPID(at Endpoint) int {
	var found []listener
	if at.Network == "unix" {
		for _, inode := range unixListeners(at.Address) {
			found = append(found, listener{inode: inode})
		}
	} else {
		ips, port := ownAddresses(at.Address)
		table := listeners(os.Getpid())
		for _, ip := range ips {
			found = append(found, answering(table, ip, port)...)
		}
	}
	all := map[int]bool{}
	for _, pid := range allProcesses() {
		all[pid] = true
	}
	if pids, _, _ := holders(found, all); len(pids) == 1 {
		return pids[0]
	}
	return 0
}

// holderOf finds a process that has one of some sockets open; 0 where none is
// to be seen.
func holderOf(wanted map[uint64]bool) int {
	for _, pid := range allProcesses() {
		for inode := range socketInodes(pid) {
			if wanted[inode] {
				return pid
			}
		}
	}
	return 0
}

// allProcesses are the numbers of those that run.
func allProcesses() (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// socketInodes returns the inodes of the sockets that a process has open.
func socketInodes(pid int) map[uint64]bool {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	inodes := map[uint64]bool{}
	var link [len("socket:[18446744073709551615]") + 1]byte
	for _, name := range names {
		n, err := unix.Readlinkat(int(dir.Fd()), name, link[:])
		if err != nil || n == len(link) { // it is longer
			continue
		}
		text, ok := strings.CutPrefix(string(link[:n]), "socket:[")
		if inode, err := strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 64); ok && err == nil {
			inodes[inode] = true
		}
	}
	return inodes
}

// eachListener visits the listening TCP sockets in the network namespace of a
// process (proc_net_tcp in the kernel's documentation).
func eachListener(pid int, visit func(addr string, inode uint64)) {
	for _, l := range listeners(pid) {
		ip := l.ip
		if ip.IsUnspecified() { // dialled on loopback
			ip = net.IPv4(127, 0, 0, 1)
		}
		visit(net.JoinHostPort(ip.String(), strconv.Itoa(l.port)), l.inode)
	}
}

// listeners are the listening TCP sockets in the network namespace of a process.
func listeners(pid int) (all []listener) {
	for _, name := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			const listen = "0A"
			if !strings.Contains(line, " "+listen+" ") { // there may be many connections
				continue
			}
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != listen {
				continue
			}
			inode, err := strconv.ParseUint(f[9], 10, 64)
			if ip, port := procAddress(f[1]); err == nil && ip != nil {
				all = append(all, listener{ip, port, inode})
			}
		}
	}
	return all
}

// procAddress reads "0100007F:1F90": the bytes of each 32-bit word are in the
// machine's own order, little-endian on everything Go runs on but a few. ip is
// nil where that is no address.
func procAddress(s string) (ip net.IP, port int) {
	hexIP, hexPort, ok := strings.Cut(s, ":")
	raw, err := hex.DecodeString(hexIP)
	number, perr := strconv.ParseUint(hexPort, 16, 16)
	if !ok || err != nil || perr != nil || len(raw) != net.IPv4len && len(raw) != net.IPv6len {
		return nil, 0
	}
	for i := 0; i < len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	return raw, int(number)
}
