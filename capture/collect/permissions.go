package collect

import (
	"context"
	"fmt"
	"strings"

	"loupe/capture/live"
)

// Permission says whether one way to learn something of a process is open.
type Permission = live.Permission

// Permissions says of each way to learn something of a running process
// whether it is open, and if not why, and what would open it: what the process
// serves by itself first, then what the kernel lets this user do.
func Permissions(ctx context.Context, pid int) []Permission {
	all, _ := permissions(ctx, pid, Access{})
	return all
}

// permissions does so, and returns the server that it has found, if any.
func permissions(ctx context.Context, pid int, access Access) ([]Permission, *httpSource) {
	served, h := servedBy(ctx, pid, access)
	return append(append([]Permission{served}, live.Permissions(pid)...), kernelLog()), h
}

// servedBy looks for the /debug/pprof of a process on the ports that it listens on.
func servedBy(ctx context.Context, pid int, access Access) (Permission, *httpSource) {
	p := Permission{
		What: "pprof", How: "all profiles and traces from its own /debug/pprof",
		Opens: "import net/http/pprof and serve http.DefaultServeMux, or start it with loupe run",
	}
	ports := listeningPorts(pid)
	for _, port := range ports {
		base, err := PprofURL(port)
		if err != nil {
			continue
		}
		h := newHTTPSource(base, access)
		if h.probe(ctx) == nil {
			return Permission{What: p.What, How: p.How + " at " + h.String(), OK: true}, h
		}
	}
	p.Why = "it listens on no TCP port that this user may see"
	if len(ports) > 0 {
		p.Why = fmt.Sprintf("it listens on %s, but none serves /debug/pprof", strings.Join(ports, ", "))
	}
	return p, nil
}
