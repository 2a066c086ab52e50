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
	pid, user int
	caps      uint64 // effective
	// seccomp says that a filter of system calls is installed, as containers
	// have.
	seccomp bool
	profile string // of AppArmor; empty without
}

// Capabilities by their bits (linux/capability.h).
const (
	capSysPtrace = 1 << 19
	capSysAdmin  = 1 << 21
	capPerfmon   = 1 << 38
)

// partyOf reads /proc/PID/status; the process may be "self".
func partyOf(pid string) party {
	p := party{user: -1}
	text, _ := os.ReadFile("/proc/" + pid + "/status")
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		f := strings.Fields(value)
		if len(f) == 0 {
			continue
		}
		switch key {
		case "Pid":
			p.pid, _ = strconv.Atoi(f[0])
		case "Uid":
			p.user, _ = strconv.Atoi(f[min(1, len(f)-1)])
		case "CapEff":
			p.caps, _ = strconv.ParseUint(f[0], 16, 64)
		case "Seccomp":
			p.seccomp = f[0] != "0"
		}
	}
	if profile := line("/proc/" + pid + "/attr/current"); profile != "unconfined" {
		p.profile = profile
	}
	return p
}

// rules are what the kernel is set to.
type rules struct {
	scope    string // kernel.yama.ptrace_scope, empty without Yama
	paranoid string // kernel.perf_event_paranoid, empty without perf events
}

func rulesHere() rules {
	return rules{line("/proc/sys/kernel/yama/ptrace_scope"), line("/proc/sys/kernel/perf_event_paranoid")}
}

// noMemory says why a process may not read or write the memory of another one,
// given that the kernel has refused.
func (k rules) noMemory(self, target party) *refusal {
	r := &refusal{kind: ErrNotPermitted}
	traces := self.caps&capSysPtrace != 0
	switch {
	case !traces && target.user >= 0 && target.user != self.user:
		r.Why = fmt.Sprintf("it belongs to user %d, and loupe runs as user %d", target.user, self.user)
		r.Opens = "run loupe as that user or as root"
	case k.scope == "3":
		r.Why = "kernel.yama.ptrace_scope is 3: nobody may look into a process until the machine starts again"
	case !traces && k.scope == "2":
		r.Why = "kernel.yama.ptrace_scope is 2: only an administrator may look into a process"
		r.Opens = "run loupe as root or with CAP_SYS_PTRACE, or sysctl kernel.yama.ptrace_scope=0"
	case !traces && k.scope == "1":
		r.Why = "kernel.yama.ptrace_scope is 1: only a parent may look into its children"
		r.Opens = "run as root, start the program by loupe, or sysctl kernel.yama.ptrace_scope=0"
	case !traces && target.caps&^self.caps != 0:
		r.Why = "it has capabilities that loupe does not have"
		r.Opens = "run loupe as root or with CAP_SYS_PTRACE"
	case self.seccomp:
		r.Why = "a seccomp filter, most often that of a container, forbids it"
		r.Opens = "docker run --cap-add SYS_PTRACE"
	case self.profile != "" || target.profile != "":
		r.Why = fmt.Sprintf("a security module forbids it (AppArmor: loupe has the profile %q, the process %q)", self.profile, target.profile)
		r.Opens = "run loupe without that profile: docker run --security-opt apparmor=unconfined"
	case traces:
		r.Why = "it is in another container, or a security module forbids it"
		r.Opens = "run loupe in the container of the process"
	default:
		r.Why = "a container or a security module forbids it"
		r.Opens = "run loupe as root or with CAP_SYS_PTRACE, in the same container"
	}
	return r
}

// noPerf says why perf events of a process are refused.
func (k rules) noPerf(self, target party) *refusal {
	level, err := strconv.Atoi(k.paranoid)
	allowed := self.caps&(capPerfmon|capSysAdmin) != 0
	switch {
	case err != nil:
		return &refusal{Why: "the kernel was built without perf events", kind: ErrNotPermitted}
	case level > 2 && !allowed:
		return &refusal{
			Why:   "kernel.perf_event_paranoid is " + k.paranoid,
			Opens: "run as root or with CAP_PERFMON, or sysctl kernel.perf_event_paranoid=2", kind: ErrNotPermitted,
		}
	case !allowed && target.user >= 0 && target.user != self.user:
		return k.noMemory(self, target)
	}
	return &refusal{
		Why:   "kernel.perf_event_paranoid is " + k.paranoid + ", so that something else forbids perf events: most often the seccomp filter of a container",
		Opens: "docker run --security-opt seccomp=unconfined, or --cap-add PERFMON", kind: ErrNotPermitted,
	}
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
