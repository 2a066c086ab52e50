//go:build linux && (amd64 || arm64)

package live

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// party is what the kernel knows of a process when it decides who may look into
// whom (capabilities(7), ptrace(2)).
type party struct {
	pid, user, group int
	// may are the capabilities that it uses, has those that it could use.
	may, has uint64
	// seccomp says that a filter of system calls is installed, as containers
	// have.
	seccomp bool
	// sealed says that the kernel lets no other process of its user look into
	// it (PR_SET_DUMPABLE).
	sealed  bool
	profile string // of AppArmor, or what SELinux calls a context; empty without
}

// Capabilities by their bits (linux/capability.h).
const (
	capSysPtrace = 1 << 19
	capSysAdmin  = 1 << 21
	capPerfmon   = 1 << 38
)

// partyOf reads /proc/PID/status; the process may be "self".
func partyOf(pid string) party {
	p := party{user: -1, group: -1}
	text, _ := os.ReadFile("/proc/" + pid + "/status")
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		f := strings.Fields(value)
		if len(f) == 0 {
			continue
		}
		effective := f[min(1, len(f)-1)]
		switch key {
		case "Pid":
			p.pid, _ = strconv.Atoi(f[0])
		case "Uid":
			p.user, _ = strconv.Atoi(effective)
		case "Gid":
			p.group, _ = strconv.Atoi(effective)
		case "CapEff":
			p.may, _ = strconv.ParseUint(f[0], 16, 64)
		case "CapPrm":
			p.has, _ = strconv.ParseUint(f[0], 16, 64)
		case "Seccomp":
			p.seccomp = f[0] != "0"
		}
	}
	// The files of a sealed process belong to root, but not their folder.
	var st unix.Stat_t
	p.sealed = p.user > 0 && unix.Stat("/proc/"+pid+"/status", &st) == nil && st.Uid == 0
	if profile := line("/proc/" + pid + "/attr/current"); profile != "unconfined" && profile != "kernel" {
		p.profile = profile
	}
	return p
}

// traces tells that it may look into processes that are closed to it.
func (p party) traces() bool { return p.may&capSysPtrace != 0 }

// administrator says how it gets a capability. Root without it is in a container.
func (p party) administrator(capability string) string {
	if p.user == 0 {
		return "docker run --cap-add " + capability
	}
	return "run loupe as root or with CAP_" + capability
}

// closed says why a process is closed to another one whatever the kernel is set to:
// __ptrace_may_access in its kernel/ptrace.c. It is empty for one that is not.
func (target party) closed(self party) string {
	switch {
	case self.traces():
		return ""
	case target.user >= 0 && target.user != self.user:
		return fmt.Sprintf("it belongs to user %d, and loupe runs as user %d", target.user, self.user)
	case target.group >= 0 && target.group != self.group:
		return fmt.Sprintf("it has the group %d, and loupe has %d", target.group, self.group)
	case target.has&^self.has != 0:
		return "it has capabilities that loupe does not have"
	case target.sealed:
		return "its binary may not be read by its user, or it has asked to be left alone (PR_SET_DUMPABLE)"
	}
	return ""
}

// rules are what the kernel is set to.
type rules struct {
	scope    string // kernel.yama.ptrace_scope, empty without Yama
	paranoid string // kernel.perf_event_paranoid, empty without perf events
}

func rulesHere() rules {
	return rules{line("/proc/sys/kernel/yama/ptrace_scope"), line("/proc/sys/kernel/perf_event_paranoid")}
}

// related says why a process may not look into others of its own user than its
// children (Documentation/admin-guide/LSM/Yama.rst); it is empty where it may.
func (k rules) related(self party) (why, opens string) {
	const off = ", or sysctl kernel.yama.ptrace_scope=0"
	switch {
	case k.scope == "3":
		return "kernel.yama.ptrace_scope is 3: nobody may look into a process until the machine starts again", ""
	case self.traces():
	case k.scope == "2":
		return "kernel.yama.ptrace_scope is 2: only an administrator may look into a process", self.administrator("SYS_PTRACE") + off
	case k.scope == "1":
		return "kernel.yama.ptrace_scope is 1: only a parent may look into its children", self.administrator("SYS_PTRACE") + ", start the program by loupe" + off
	}
	return "", ""
}

// noMemory says why a process may not read or write the memory of another one,
// given that the kernel has refused.
func (k rules) noMemory(self, target party) *refusal {
	r := &refusal{kind: ErrNotPermitted}
	r.Why, r.Opens = k.related(self)
	closed := target.closed(self)
	switch {
	case k.scope == "3":
	case closed != "":
		r.Opens = self.administrator("SYS_PTRACE")
		if r.Why == "" && self.user != 0 && target.user != self.user {
			r.Opens = "run loupe as that user or as root"
		}
		r.Why = closed
	case r.Why != "":
	case self.profile != "" && (self.profile != target.profile || !self.seccomp):
		r.Why = fmt.Sprintf("a security module forbids it: loupe has the profile %q, the process %q", self.profile, target.profile)
		r.Opens = "run loupe without that profile: docker run --security-opt apparmor=unconfined"
	case self.seccomp:
		r.Why = "a seccomp filter, most often that of a container, forbids it"
		r.Opens = "docker run --cap-add SYS_PTRACE"
	case self.traces():
		r.Why = "it is in another container, or a security module forbids it"
		r.Opens = "run loupe in the container of the process"
	default:
		r.Why = "a container or a security module forbids it"
		r.Opens = "run loupe as root or with CAP_SYS_PTRACE, in the same container"
	}
	return r
}

// noPerf says why perf events of a process are refused. Yama has no say in them.
func (k rules) noPerf(self, target party) *refusal {
	level, err := strconv.Atoi(k.paranoid)
	allowed := self.may&(capPerfmon|capSysAdmin) != 0
	closed := target.closed(self)
	r := &refusal{kind: ErrNotPermitted}
	switch {
	case err != nil:
		r.Why = "the kernel was built without perf events"
	case level > 2 && !allowed:
		r.Why, r.Opens = "kernel.perf_event_paranoid is "+k.paranoid, self.administrator("PERFMON")
		if closed == "" {
			r.Opens += ", or sysctl kernel.perf_event_paranoid=2"
		}
	case !allowed && closed != "":
		return rules{}.noMemory(self, target)
	case self.profile != "" && self.profile != target.profile:
		return rules{}.noMemory(self, target)
	default:
		r.Why = "kernel.perf_event_paranoid is " + k.paranoid + ", so that something else forbids perf events: most often the seccomp filter of a container"
		r.Opens = "docker run --security-opt seccomp=unconfined, or --cap-add PERFMON"
	}
	return r
}

// refused explains an error of looking into a process's memory when it is that
// the kernel does not permit it.
func refused(pid int, err error) error {
	if !errors.Is(err, os.ErrPermission) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	return rulesHere().noMemory(partyOf("self"), partyOf(strconv.Itoa(pid)))
}

// refusedPerf does the same for perf events.
func refusedPerf(pid int, err error) error {
	switch {
	case errors.Is(err, os.ErrPermission) || errors.Is(err, unix.ENOSYS):
		return rulesHere().noPerf(partyOf("self"), partyOf(strconv.Itoa(pid)))
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV):
		return &refusal{Why: "this machine shows no counters of its processor; virtual ones seldom do"}
	}
	return err
}

func line(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(string(text), "\x00\n"))
}
