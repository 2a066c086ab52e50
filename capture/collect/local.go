package collect

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
)

// LocalService is a Go program of this machine that serves /debug/pprof on loopback.
type LocalService struct {
	PID int
	// Base is where its profiles lie: http://127.0.0.1:6060/debug/pprof/.
	Base *url.URL
	// Program is the last part of the path of its main package, Version that of its main
	// module, or the revision that it was built from.
	Program, Version string
}

// LocalServices looks at all processes that this user may see, on systems that let one
// process see another's sockets (Linux); elsewhere it finds none. This process itself is
// none of them. It asks each port on which a Go program listens for /debug/pprof/.
func LocalServices(ctx context.Context) (found []LocalService) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil || pid == os.Getpid() || len(listeningPorts(pid)) == 0 {
			continue
		}
		info, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid))
		if err != nil {
			continue
		}
		_, h := servedBy(ctx, pid, Access{})
		if h == nil {
			continue
		}
		s := LocalService{PID: pid, Base: h.base, Program: path.Base(info.Path), Version: info.Main.Version}
		for _, set := range info.Settings {
			if set.Key == "vcs.revision" && (s.Version == "" || s.Version == "(devel)") {
				s.Version = set.Value
			}
		}
		found = append(found, s)
	}
	return found
}
