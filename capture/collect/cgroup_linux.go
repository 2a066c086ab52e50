package collect

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// cgroups reads what the kernel tells of control groups, of version 2 and of
// version 1: each controller is in the hierarchy of the one or of the other.
//
// Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
type cgroups struct {
	root string // put before every name; empty but in tests

	once   sync.Once
	mounts []cgroupMount
}

// cgroupMount is where a hierarchy is mounted.
type cgroupMount struct {
	// dir is where it is, of the part of the hierarchy that is below top: in a
	// container that is most often the container's own.
	top, dir string
	// controllers of version 1; nil for version 2.
	controllers []string
}

// theCgroups are those of this machine.
var theCgroups cgroups

// cgroup is the control group of a process for one controller.
type cgroup struct {
	dir  string // as the files are found; empty for none
	top  string // where the hierarchy is mounted: no parent is above it
	v1   bool
	root string
}

// of returns the cgroup of a process for a controller, "memory" or "cpu".
func (c *cgroups) of(pid, controller string) cgroup {
	c.once.Do(c.readMounts)
	text, err := os.ReadFile(c.root + "/proc/" + pid + "/cgroup")
	if err != nil {
		return cgroup{}
	}
	var second cgroup
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3) // "4:memory:/a", "0::/a"
		if len(f) != 3 {
			continue
		}
		v1 := slices.Contains(strings.Split(f[1], ","), controller)
		if !v1 && f[1] != "" {
			continue
		}
		for _, m := range c.mounts {
			if v1 != slices.Contains(m.controllers, controller) || !v1 && m.controllers != nil {
				continue
			}
			g := cgroup{m.place(f[2]), m.dir, v1, c.root}
			if v1 {
				return g
			}
			second = g
		}
	}
	return second
}

// place is where the files of a cgroup are. The path of a process is seen from
// the root of the hierarchy, or of the reader's own namespace; what is not below
// the mount's top is above what can be seen, and the top is the nearest.
func (m *cgroupMount) place(at string) string {
	if m.top == "/" {
		return path.Join(m.dir, at)
	}
	if rest, ok := strings.CutPrefix(at, m.top); ok && (rest == "" || rest[0] == '/') {
		return path.Join(m.dir, rest)
	}
	return m.dir
}

// readMounts finds the hierarchies, see proc_pid_mountinfo(5).
func (c *cgroups) readMounts() {
	text, err := os.ReadFile(c.root + "/proc/self/mountinfo")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		before, after, ok := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(kind) < 3 {
			continue
		}
		m := cgroupMount{top: f[3], dir: strings.ReplaceAll(f[4], `\040`, " ")}
		switch kind[0] {
		case "cgroup":
			m.controllers = strings.Split(kind[2], ",")
		case "cgroup2":
		default:
			continue
		}
		c.mounts = append(c.mounts, m)
	}
}

// line is the first line of a file of the cgroup.
func (g *cgroup) line(name string) string { return readLine(filepath.Join(g.root+g.dir, name)) }

// number is a file with one number; ok is false for "max" and where there is none.
func (g *cgroup) number(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(g.line(name), 10, 64)
	return n, err == nil
}

// field is the value behind a word of a file of lines such as "oom_kill 3".
func (g *cgroup) field(name, word string) (n int64) {
	text, err := os.ReadFile(filepath.Join(g.root+g.dir, name))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, word+" "); ok {
			n, _ = strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
		}
	}
	return n
}

// parents calls f for the cgroup and those above it, as far as they are seen.
func (g cgroup) parents(f func(g *cgroup)) {
	for g.dir != "" {
		f(&g)
		if g.dir == g.top || !strings.HasPrefix(g.dir, g.top) {
			return
		}
		g.dir = path.Dir(g.dir)
	}
}

// noLimit is from where on version 1 means that there is none: the largest
// number, rounded down to a page.
const noLimit = 1 << 62

// memoryLimit is the tightest of a memory cgroup and its parents in bytes, 0 for
// none. At memory.high of version 2 nothing is killed, but the kernel slows the
// programs down until they nearly stand still, which is an end as well.
func (g cgroup) memoryLimit() (limit int64) {
	names := []string{"memory.max", "memory.high"}
	if g.v1 {
		names = []string{"memory.limit_in_bytes"}
	}
	g.parents(func(g *cgroup) {
		for _, name := range names {
			if m, ok := g.number(name); ok && m < noLimit && (limit == 0 || m < limit) {
				limit = m
			}
		}
	})
	return limit
}

// memory is what a memory cgroup is charged with, in bytes.
func (g *cgroup) memory() int64 {
	name := "memory.current"
	if g.v1 {
		name = "memory.usage_in_bytes"
	}
	n, _ := g.number(name)
	return n
}

// oomKills is how often the kernel has killed in a memory cgroup for want of
// memory. Version 1 counts since Linux 4.13.
func (g *cgroup) oomKills() int64 {
	if g.v1 {
		return g.field("memory.oom_control", "oom_kill")
	}
	return g.field("memory.events", "oom_kill")
}

// quota is the tightest limit of CPUs of a CPU cgroup and its parents, 0 for
// none.
func (g cgroup) quota() (cpus float64) {
	g.parents(func(g *cgroup) {
		var quota, period float64
		if g.v1 {
			q, _ := g.number("cpu.cfs_quota_us") // -1 for none
			p, _ := g.number("cpu.cfs_period_us")
			quota, period = float64(q), float64(p)
		} else if n, _ := fmt.Sscan(g.line("cpu.max"), &quota, &period); n != 2 {
			return
		}
		if quota > 0 && period > 0 && (cpus == 0 || quota/period < cpus) {
			cpus = quota / period
		}
	})
	return cpus
}

// throttled is how long the threads of a CPU cgroup were kept from running.
func (g *cgroup) throttled() time.Duration {
	if g.v1 {
		return time.Duration(g.field("cpu.stat", "throttled_time"))
	}
	return time.Duration(g.field("cpu.stat", "throttled_usec")) * time.Microsecond
}
