package collect

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"loupe/source/system"
)

// reserveTries bounds how many ports are tried that the system calls free.
const reserveTries = 20

// ReservePort returns address, or another port of the same host where something
// answers there already or another loupe of this user has reserved it: two
// runs of one service, started at once, get a port each. release gives it
// back; the end of the process does so too. Where there are no locks, only
// what answers already is seen.
func ReservePort(address string) (reserved string, release func()) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address, func() {}
	}
	dir := reservations()
	if portFree(TCP(address)) == nil {
		if release, ok := reserve(dir, port); ok {
			return address, release
		}
	}
	for range reserveTries {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			break
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		l.Close()
		if release, ok := reserve(dir, port); ok {
			return net.JoinHostPort(host, port), release
		}
	}
	return address, func() {}
}

// reservations is the folder of the locks of this user, one for each port; ""
// where there can be none.
func reservations() string {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("%sports-%d", tempPrefix, os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) || !system.OwnPrivateDir(dir) {
		return ""
	}
	return dir
}

// reserve takes the lock of a port, unless another process has it.
func reserve(dir, port string) (release func(), ok bool) {
	if dir == "" {
		return func() {}, true
	}
	f, err := os.OpenFile(filepath.Join(dir, port), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return func() {}, true
	}
	if !lockFile(f) {
		f.Close()
		return nil, false
	}
	return func() { f.Close() }, true
}
