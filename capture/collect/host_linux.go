package collect

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loupe/format/metrics"
	"loupe/recording"
	"loupe/source/system"
)

// tick is the unit of the CPU times in /proc: USER_HZ is 100 on every
// architecture that Go supports.
const tick = 10 * time.Millisecond

func readHost(h *recording.Host) {
	h.Kernel = readLine("/proc/sys/kernel/osrelease")
	h.BootID = readLine("/proc/sys/kernel/random/boot_id")
	h.CPU = cpuinfo("model name")
	if h.Arch == "amd64" {
		h.Level = amd64Level(cpuinfo("flags"))
	}
	if mem, err := os.ReadFile("/proc/meminfo"); err == nil {
		h.Memory, _ = metrics.MemInfo(string(mem), "MemTotal")
	}
	h.Load = loadAverage()
	h.Virtual = virtual()
	h.Quota, h.MemoryLimit = theCgroups.of("self", "cpu").quota(), theCgroups.of("self", "memory").memoryLimit()
}

func readLine(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

func cpuinfo(key string) string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func loadAverage() float64 {
	first, _, _ := strings.Cut(readLine("/proc/loadavg"), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}

// virtual names the hypervisor or container, as far as it shows.
func virtual() string {
	var found []string
	flags := " " + cpuinfo("flags") + " "
	if vendor := readLine("/sys/class/dmi/id/sys_vendor"); strings.Contains(flags, " hypervisor ") {
		if vendor == "" {
			vendor = readLine("/sys/hypervisor/type")
		}
		found = append(found, strings.TrimSpace("virtual machine "+vendor))
	}
	if _, err := os.Stat("/.dockerenv"); err == nil {
		found = append(found, "docker")
	} else if _, err := os.Stat("/run/.containerenv"); err == nil {
		found = append(found, "podman")
	} else if os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		found = append(found, "kubernetes")
	}
	return strings.Join(found, ", ")
}

// sampleOS reads what the system tells now; pid 0 leaves the process out.
func sampleOS(pid int) metrics.OSSample {
	s := metrics.OSSample{PID: pid, Load: loadAverage()}
	if pid > 0 {
		sampleProcess(&s, pid)
	}
	var self syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &self) == nil {
		s.Self = time.Duration(self.Utime.Nano() + self.Stime.Nano())
	}
	sampleMachine(&s)
	sampleMemory(&s)
	cpu := theCgroups.of("self", "cpu") // there as long as we are
	s.Throttled = cpu.throttled()
	s.Periods, s.ThrottledPeriods = cpu.field("cpu.stat", "nr_periods"), cpu.field("cpu.stat", "nr_throttled")
	return s
}

// processClock is the CPU time that all threads of a process have used until now, those that
// have ended too, in nanoseconds: the clock that clock_getcpuclockid(3) makes of its number,
// ~pid<<3 | CPUCLOCK_SCHED.
func processClock(pid int) (used time.Duration, ok bool) {
	const scheduled = 2 // CPUCLOCK_SCHED
	var now unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|scheduled), &now) != nil {
		return 0, false
	}
	return time.Duration(now.Nano()), true
}

// sampleProcess reads /proc/PID/stat, status and io, see proc(5).
func sampleProcess(s *metrics.OSSample, pid int) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, ok := readStat("/proc", pid)
	if !ok {
		return
	}
	s.User = time.Duration(stat.number(statUser)) * tick
	s.System = time.Duration(stat.number(statSystem)) * tick
	if all, ok := processClock(pid); ok {
		s.User = max(0, all-s.System) // how it is split is known in ticks alone
	}
	s.Children = time.Duration(stat.number(statWaitedUser)+stat.number(statWaitedSys)) * tick
	s.Threads = int(stat.number(statThreads))
	s.RSS = stat.number(statResident) * int64(os.Getpagesize())
	if status, err := os.ReadFile(filepath.Join(dir, "status")); err == nil {
		s.MaxRSS, _ = metrics.MemInfo(string(status), "VmHWM")
		s.Anon, _ = metrics.MemInfo(string(status), "RssAnon")
	}
	sampleTransfers(s, filepath.Join(dir, "io"))
	for _, thread := range system.SchedStats(pid) {
		s.Waited += thread.Waited
	}
	if f, err := os.Open(filepath.Join(dir, "fd")); err == nil {
		names, _ := f.Readdirnames(100000)
		s.FDs = len(names)
		f.Close()
	}
}

// sampleTransfers reads what the process has read and written, see proc(5): lines such as "rchar: 323934931".
func sampleTransfers(s *metrics.OSSample, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return // not ours to read, or a kernel that does not count
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "rchar":
			s.ReadBytes = n
		case "wchar":
			s.WriteBytes = n
		case "syscr":
			s.ReadCalls = n
		case "syscw":
			s.WriteCalls = n
		}
	}
}

// sampleMemory reads how much memory the machine and the process's cgroup have
// and use, and how often the kernel has killed for want of it.
func sampleMemory(s *metrics.OSSample) {
	if mem, err := os.ReadFile("/proc/meminfo"); err == nil {
		s.Memory, _ = metrics.MemInfo(string(mem), "MemTotal")
		if free, err := metrics.MemInfo(string(mem), "MemAvailable"); err == nil {
			s.MemoryUsed = s.Memory - free
		}
	}
	g := theCgroups.of(processName(s.PID), "memory")
	s.Cgroup, s.CgroupLimit, s.OOMKills = g.memory(), g.memoryLimit(), g.oomKills()
}

// processName is the folder of a process below /proc; 0 is our own.
func processName(pid int) string {
	if pid <= 0 {
		return "self"
	}
	return strconv.Itoa(pid)
}

// sampleMachine reads the first line of /proc/stat: user nice system idle
// iowait irq softirq steal.
func sampleMachine(s *metrics.OSSample) {
	f := strings.Fields(readLine("/proc/stat"))
	if len(f) < 9 {
		return
	}
	for i, word := range f[1:9] {
		n, _ := strconv.ParseInt(word, 10, 64)
		d := time.Duration(n) * tick
		switch i {
		case 3, 4:
			s.Idle += d
		case 7:
			s.Steal += d
		default:
			s.Busy += d
		}
	}
}
