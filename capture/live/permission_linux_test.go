//go:build linux && (amd64 || arm64)

package live

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary run as another party: it prints what it may do
// with the process that LOUPE_LOOKS_AT names, or how many of its threads it can sample.
func TestMain(m *testing.M) {
	if pid, err := strconv.Atoi(os.Getenv("LOUPE_LOOKS_AT")); err == nil {
		if os.Getenv("LOUPE_FILTERED") != "" {
			filterCalls()
		}
		if os.Getenv("LOUPE_ATTACHES") != "" {
			attachTo(pid)
		} else {
			json.NewEncoder(os.Stdout).Encode(Permissions(pid))
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// filterCalls forbids this process what a container's filter of system calls
// forbids: perf events, and here the memory of others too.
func filterCalls() {
	forbidden := []uint32{unix.SYS_PERF_EVENT_OPEN, unix.SYS_PROCESS_VM_READV}
	const allow, refuse = 0x7fff0000, 0x00050000 | uint32(unix.EPERM) // SECCOMP_RET_ALLOW, _ERRNO
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}}
	for _, number := range forbidden {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
			unix.SockFilter{Code: unix.BPF_RET, K: refuse})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET, K: allow})
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	// SECCOMP_SET_MODE_FILTER for all threads (SECCOMP_FILTER_FLAG_TSYNC).
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, 1, 1, uintptr(unsafe.Pointer(&fprog))); errno != 0 {
		panic(errno)
	}
}

// answer runs the test binary as a user and returns what it prints of a process.
func answer(t *testing.T, pid int, attr *syscall.SysProcAttr, env ...string) []byte {
	t.Helper()
	c := exec.Command(shared(t, "/proc/self/exe"))
	c.Env = append(append(os.Environ(), "LOUPE_LOOKS_AT="+strconv.Itoa(pid)), env...)
	c.Dir, c.SysProcAttr, c.Stderr = "/", attr, os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// asked is what a user may do with a process.
func asked(t *testing.T, pid int, attr *syscall.SysProcAttr, env ...string) map[string]Permission {
	t.Helper()
	var all []Permission
	if err := json.Unmarshal(answer(t, pid, attr, env...), &all); err != nil {
		t.Fatal(err)
	}
	m := map[string]Permission{}
	for _, p := range all {
		m[p.What] = p
	}
	return m
}

// shared copies a program to where every user may run it.
func shared(t *testing.T, program string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "loupe-shared-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	name := filepath.Join(dir, "program")
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPermissionsAsOthers asks as other users and out of a container's filter.
func TestPermissionsAsOthers(t *testing.T) {
	program := shared(t, build(t, "-ldflags=-w"))
	mine, _ := start(t, program, 1)
	filtered := asked(t, mine, nil, "LOUPE_FILTERED=1")
	for _, what := range []string{"goroutines", "cpu"} {
		if p := filtered[what]; p.OK || !strings.Contains(p.Why, "ptrace_scope") && (!strings.Contains(p.Why, "seccomp filter") || !strings.Contains(p.Opens, "docker run")) {
			t.Errorf("behind a filter: %+v", p)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can be others too")
	}
	const nobody = 65534
	other := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	for what, p := range asked(t, mine, other) {
		if what == "counters" && strings.Contains(p.Why, "no counters") {
			continue // the machine has none, whoever asks
		}
		if p.OK || !strings.Contains(p.Why, "belongs to user 0, and loupe runs as user 65534") && !strings.Contains(p.Why, "perf_event_paranoid") && !strings.Contains(p.Why, "ptrace_scope is 3") {
			t.Errorf("of root's process, nobody may: %+v", p)
		}
	}
	// One's own process, unless this machine has set it otherwise.
	c := exec.Command(program, "1")
	c.SysProcAttr = other
	theirs, _ := begin(t, c)
	for what, p := range asked(t, theirs, other) {
		known := strings.Contains(p.Why, "ptrace_scope") || strings.Contains(p.Why, "perf_event_paranoid") || strings.Contains(p.Why, "no counters")
		if !p.OK && !known {
			t.Errorf("of nobody's process, nobody may not %s: %+v", what, p)
		}
	}
	// One's own process that the kernel closes, as its user may not read the binary.
	if err := os.Chmod(program, 0o711); err != nil {
		t.Fatal(err)
	}
	c = exec.Command(program, "1")
	c.SysProcAttr = other
	sealed, _ := begin(t, c)
	all := asked(t, sealed, other)
	for _, what := range []string{"goroutines", "heap", "cpu", "core"} {
		known := strings.Contains(all[what].Why, "PR_SET_DUMPABLE") || strings.Contains(all[what].Why, "ptrace_scope is 3") || strings.Contains(all[what].Why, "perf_event_paranoid")
		if p := all[what]; p.OK || !known {
			t.Errorf("of nobody's process that cannot be read, nobody may: %+v", p)
		}
	}
}

// TestReasons holds the reasons against what the kernel is set to.
func TestReasons(t *testing.T) {
	me, other, group := party{user: 1000, group: 1000}, party{user: 1001, group: 1000}, party{user: 1000, group: 5}
	filtered, confined := party{user: 1000, group: 1000, seccomp: true}, party{user: 1000, group: 1000, profile: "docker-default (enforce)"}
	root, able, sealed := party{may: 1<<41 - 1, has: 1<<41 - 1}, party{user: 1000, group: 1000, may: capSysAdmin, has: capSysAdmin}, party{user: 1000, group: 1000, sealed: true}
	contained := party{may: capSysAdmin, has: capSysAdmin} // root in a container
	check := func(r *refusal, why, opens string) {
		t.Helper()
		if !strings.Contains(r.Why, why) || opens == "" && r.Opens != "" || !strings.Contains(r.Opens, opens) {
			t.Errorf("%q, %q, want %q, %q", r.Why, r.Opens, why, opens)
		}
	}
	memory := func(k rules, self, target party, why, opens string) {
		t.Helper()
		check(k.noMemory(self, target), why, opens)
	}
	memory(rules{}, me, other, "belongs to user 1001", "as that user or as root")
	memory(rules{}, me, group, "has the group 5", "as root or with CAP_SYS_PTRACE")
	memory(rules{}, contained, me, "belongs to user 1000", "docker run --cap-add SYS_PTRACE")
	memory(rules{scope: "1"}, me, other, "belongs to user 1001", "run loupe as root or with CAP_SYS_PTRACE")
	memory(rules{scope: "1"}, me, me, "ptrace_scope is 1", "start the program by loupe")
	memory(rules{scope: "1"}, contained, contained, "ptrace_scope is 1", "docker run --cap-add SYS_PTRACE, start the program by loupe")
	memory(rules{scope: "2"}, me, me, "ptrace_scope is 2", "CAP_SYS_PTRACE, or sysctl")
	memory(rules{scope: "3"}, root, me, "until the machine starts again", "")
	memory(rules{scope: "3"}, me, other, "until the machine starts again", "")
	memory(rules{scope: "0"}, me, able, "capabilities that loupe does not have", "as root")
	memory(rules{scope: "1"}, me, sealed, "PR_SET_DUMPABLE", "run loupe as root or with CAP_SYS_PTRACE")
	memory(rules{}, filtered, me, "seccomp", "--cap-add SYS_PTRACE")
	memory(rules{}, confined, me, `loupe has the profile "docker-default (enforce)"`, "apparmor=unconfined")
	memory(rules{scope: "1"}, root, me, "another container", "in the container of the process")
	memory(rules{scope: "0"}, me, confined, "a container or a security module", "in the same container")
	perf := func(k rules, self, target party, why, opens string) {
		t.Helper()
		check(k.noPerf(self, target), why, opens)
	}
	perf(rules{}, me, me, "without perf events", "")
	perf(rules{paranoid: "4"}, me, me, "paranoid is 4", "CAP_PERFMON, or sysctl kernel.perf_event_paranoid=2")
	perf(rules{paranoid: "3"}, me, other, "paranoid is 3", "run loupe as root or with CAP_PERFMON")
	perf(rules{paranoid: "2"}, me, other, "belongs to user 1001", "as that user or as root")
	perf(rules{paranoid: "2", scope: "3"}, me, other, "belongs to user 1001", "as that user or as root")
	perf(rules{paranoid: "2"}, me, sealed, "PR_SET_DUMPABLE", "as root")
	perf(rules{paranoid: "2"}, confined, me, "profile", "apparmor=unconfined")
	perf(rules{paranoid: "2"}, me, me, "something else", "seccomp=unconfined")
	perf(rules{paranoid: "4"}, able, me, "something else", "--cap-add PERFMON")
}

// TestPermissionLine: the table has a line for each way, in its order.
func TestPermissionLine(t *testing.T) {
	var got []string
	for _, p := range Permissions(os.Getpid()) {
		got = append(got, p.What)
		if p.How == "" || p.OK == (p.Why != "") || !strings.HasPrefix(p.String(), p.What+": ") {
			t.Errorf("%+v: %s", p, p)
		}
	}
	var want []string
	for _, w := range ways {
		want = append(want, w[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
