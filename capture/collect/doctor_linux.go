package collect

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"loupe/capture/live"
)

// selfCPU is the CPU time of loupe itself.
func selfCPU() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// examineKernel looks at what the Linux kernel is set to.
func examineKernel() []Check {
	checks := []Check{checkClock(), checkGovernor(), checkPerf(), checkPtrace(), checkOOM(), checkStderr(), checkFiles()}
	var out []Check
	for _, c := range checks {
		if c.Name != "" {
			out = append(out, c)
		}
	}
	return out
}

func checkClock() Check {
	source := readLine("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	switch source {
	case "":
		return Check{}
	case "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page":
		return Check{"clock", Good, source, ""}
	}
	return Check{"clock", Caution, source, "With this clock source, reading the time is a system call: programs that do it often are slower."}
}

func checkGovernor() Check {
	governor := readLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	switch governor {
	case "":
		return Check{}
	case "performance":
		return Check{"frequency", Good, governor, ""}
	}
	return Check{"frequency", Caution, "governor " + governor,
		"The clock rate follows the load, so the first seconds are slower: cpupower frequency-set -g performance."}
}

// checkPerf tries perf events on loupe itself: a container may forbid what the
// kernel's own limit (perf_event_open(2)) allows.
func checkPerf() Check {
	text := readLine("/proc/sys/kernel/perf_event_paranoid")
	if text == "" {
		return Check{}
	}
	c := Check{"perf", Good, "perf_event_paranoid " + text, ""}
	for _, p := range live.Permissions(os.Getpid()) {
		switch {
		case p.What == "counters" && p.OK:
			c.Found += "; hardware counters available"
		case p.What == "counters":
			c.Found += "; no hardware counters"
		case p.What == "cpu" && !p.OK:
			c.Verdict, c.Found = Caution, p.Why
			c.Advice = "Programs cannot be sampled from outside; profiles come from the agent or /debug/pprof. To allow it: " + p.Opens
		}
	}
	return c
}

// checkOOM tells whether it will be known when the kernel kills a program.
func checkOOM() Check {
	p := kernelLog()
	if p.OK {
		return Check{"oom", Good, "the kernel log is readable", ""}
	}
	return Check{"oom", Caution, p.Why, "Kills by the kernel's OOM killer cannot be named. To allow it: " + p.Opens}
}

// checkPtrace tells whether other programs than those that loupe starts can be
// looked into.
func checkPtrace() Check {
	scope := readLine("/proc/sys/kernel/yama/ptrace_scope")
	c := Check{"ptrace", Good, "ptrace_scope " + scope, ""}
	if scope == "" {
		c.Found = "no Yama: every process of the same user can be inspected"
	}
	if p := live.Unrelated(); p.Why != "" {
		c.Verdict, c.Found = Caution, p.Why
		c.Advice = "Running programs can be inspected only through what they serve."
		if p.Opens != "" {
			c.Advice += " To open it: " + p.Opens
		}
	}
	return c
}

func checkStderr() Check {
	r, err := newStderrReader(false)
	if err != nil {
		return Check{"stderr", Bad, err.Error(), ""}
	}
	defer r.close()
	if !r.packets {
		return Check{"stderr", Caution, "no SEQPACKET sockets: a pipe is used", "gctrace lines can be torn by the program's own output; torn ones are counted."}
	}
	size, _ := syscall.GetsockoptInt(int(r.child.Fd()), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
	return Check{"stderr", Good, fmt.Sprintf("SEQPACKET sockets, %d KB of buffer", size>>10), ""}
}

func checkFiles() Check {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return Check{}
	}
	c := Check{"files", Good, fmt.Sprintf("%d open files", limit.Cur), ""}
	if ports := strings.Fields(readLine("/proc/sys/net/ipv4/ip_local_port_range")); len(ports) == 2 {
		c.Found += fmt.Sprintf(", local ports %s to %s", ports[0], ports[1])
	}
	if limit.Cur < 2048 {
		c.Verdict, c.Advice = Caution, "A load with many connections needs more: ulimit -n 65536."
	}
	return c
}
