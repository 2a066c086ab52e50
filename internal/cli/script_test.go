//go:build linux

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"loupe/report/reporttest"
	"loupe/store/clickhouse/clickhousetest"
)

// TestMain makes this test binary do as the programs that the scripts start:
// loupe itself, and those of helpers_test.go.
func TestMain(m *testing.M) {
	testscript.Main(serversEnd{m}, map[string]func(){
		"loupe":     func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"web":       webSite,
		"ask":       ask,
		"fill":      fill,
		"ingest":    ingest,
		"limited":   limited,
		"mkprofile": mkprofile,
		"bucket":    bucketServer,
	})
}

// serversEnd runs all tests and then ends the servers that they have started.
type serversEnd struct{ *testing.M }

// Run implements [testscript.TestingM].
func (m serversEnd) Run() int {
	defer clickhousetest.Stop()
	return m.M.Run()
}

// TestScripts runs testdata/script/<command>_<topic>.txtar: what users do
// with each command and what it answers. README.md there tells which commands
// a script has beside those of testscript.
func TestScripts(t *testing.T) {
	goEnv := goEnvironment(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, goEnv...)
			env.Values[jobsKey{}] = &jobs{byName: map[string]*job{}}
			env.Values[envKey{}] = func() []string { return slices.Clone(env.Vars) }
			t, ok := env.T().(testing.TB)
			if !ok {
				return errors.New("BUG: the script has no testing.TB")
			}
			work := env.WorkDir
			env.Defer(func() { endJobs(env) })
			t.Cleanup(func() { checkNothingLeft(t, work) })
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "ptrace" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return mayLook(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"start":     start,
			"signal":    sendSignal,
			"ends":      ends,
			"waitfor":   waitFor,
			"gone":      gone,
			"vanish":    vanish,
			"freeport":  freePort,
			"json":      checkJSON,
			"nowhere":   nowhere,
			"smalldisk": smallDisk,
		},
	})
}

// mayLook tells whether this user may look into processes that are not its children.
func mayLook() bool {
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return os.Geteuid() == 0 || len(scope) == 0 || scope[0] == '0'
}

// goEnvironment passes what the go command needs on to scripts, whose HOME
// does not exist. Nothing is fetched from anywhere, and a build with the race
// detector does not wait a second at the end of each program.
func goEnvironment(t *testing.T) []string {
	t.Helper()
	names := []string{"GOCACHE", "GOMODCACHE", "GOROOT", "GOPATH"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	loupe, err := exec.LookPath("loupe")
	if err != nil {
		t.Fatal(err)
	}
	vars := []string{
		"LOUPE=" + loupe, "GOTOOLCHAIN=local", "GOFLAGS=", "GOPROXY=off", "GOWORK=off",
		"NO_COLOR=1", "COLUMNS=100", "GOTRACEBACK=", "GORACE=atexit_sleep_ms=0",
	}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if names[i] != "GOROOT" {
			vars = append(vars, names[i]+"="+line)
		}
	}
	return vars
}

// patience bounds every wait for a condition. It is no expectation of speed.
const patience = 3 * time.Minute

// eventually polls until done tells true, and fails the script otherwise.
func eventually(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("gave up waiting for %s", what)
		}
	}
}

// job is a process that a script started and has not waited for.
type job struct {
	cmd  *exec.Cmd
	done chan struct{}
}

type jobsKey struct{}

// jobs are those of one script.
type jobs struct {
	mu     sync.Mutex
	byName map[string]*job
}

func jobNamed(ts *testscript.TestScript, name string) *job {
	all := ts.Value(jobsKey{}).(*jobs)
	all.mu.Lock()
	defer all.mu.Unlock()
	j := all.byName[name]
	if j == nil {
		ts.Fatalf("no process %q was started", name)
	}
	return j
}

// endJobs kills what a failed script left running.
func endJobs(env *testscript.Env) {
	all := env.Values[jobsKey{}].(*jobs)
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, j := range all.byName {
		j.cmd.Process.Kill()
		<-j.done
	}
}

// newCmd makes a process of a script's words. Its standard input is the null
// device; "<FILE" as the first word makes it a file, "|FILE" a pipe with the
// file's text. NAME=value before the program adds to the environment.
func newCmd(ts *testscript.TestScript, words []string) *exec.Cmd {
	cmd := &exec.Cmd{Dir: ts.MkAbs("."), Env: ts.Value(envKey{}).(func() []string)()}
	for ; len(words) > 0; words = words[1:] {
		if words[0] == "" {
			continue // a variable that is not set
		}
		if name, ok := strings.CutPrefix(words[0], "<"); ok {
			f, err := os.Open(ts.MkAbs(name))
			ts.Check(err)
			ts.Defer(func() { f.Close() })
			cmd.Stdin = f
		} else if name, ok := strings.CutPrefix(words[0], "|"); ok {
			cmd.Stdin = strings.NewReader(ts.ReadFile(name))
		} else if assignment.MatchString(words[0]) {
			cmd.Env = append(cmd.Env, words[0])
		} else {
			break
		}
	}
	if len(words) == 0 {
		ts.Fatalf("the program is missing")
	}
	path := words[0]
	if filepath.Base(path) != path {
		path = ts.MkAbs(path)
	}
	found := exec.Command(path, words[1:]...)
	ts.Check(found.Err)
	cmd.Path, cmd.Args = found.Path, found.Args
	cmd.Env = append(cmd.Env, "PWD="+cmd.Dir)
	return cmd
}

var assignment = regexp.MustCompile(`^[A-Z_]+=`)

// envKey finds a function that returns the environment of a script.
type envKey struct{}

// exits runs a program and wants exactly this exit code, or one of several
// that a machine decides between: exits 3 loupe report rec, exits 0|3 loupe doctor.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE [<FILE or |FILE] PROGRAM [ARG…]")
	}
	cmd := newCmd(ts, args[1:])
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(ts.Stdout(), &printed), ts.Stderr()
	if err := cmd.Start(); err != nil {
		ts.Fatalf("%v", err)
	}
	hang := time.AfterFunc(2*patience, func() { cmd.Process.Signal(syscall.SIGQUIT) })
	err := cmd.Wait()
	hang.Stop()
	if !errors.As(err, new(*exec.ExitError)) {
		ts.Check(err)
	}
	wantExit(ts, cmd, args[0])
	for _, wrong := range reporttest.CheckOutput(printed.Bytes()) {
		ts.Fatalf("it prints what cannot be: %s", wrong)
	}
}

func wantExit(ts *testscript.TestScript, cmd *exec.Cmd, want string) {
	got := strconv.Itoa(cmd.ProcessState.ExitCode())
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		got = status.Signal().String()
	}
	if !slices.Contains(strings.Split(want, "|"), got) {
		ts.Fatalf("it ended with %s, want %s", got, want)
	}
}

// start runs a program in the background; what it prints goes to NAME.out and
// NAME.err, which waitfor can watch.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start NAME [<FILE or |FILE] PROGRAM [ARG…]")
	}
	name := args[0]
	cmd := newCmd(ts, args[1:])
	stdout, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ts.Check(cmd.Start())
	j := &job{cmd: cmd, done: make(chan struct{})}
	go func() {
		cmd.Wait()
		close(j.done)
	}()
	all := ts.Value(jobsKey{}).(*jobs)
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byName[name] != nil {
		ts.Fatalf("there is a process %q already", name)
	}
	all.byName[name] = j
	ts.Check(os.WriteFile(ts.MkAbs(name+".pid"), fmt.Append(nil, cmd.Process.Pid), 0o600))
}

// sendSignal sends a signal to what start started: signal INT NAME.
func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill}
	if neg || len(args) != 2 || signals[args[0]] == nil {
		ts.Fatalf("usage: signal INT|TERM|KILL NAME")
	}
	ts.Check(jobNamed(ts, args[1]).cmd.Process.Signal(signals[args[0]]))
}

// ends waits for what start started, wants its exit code (or "killed"), and
// makes its output that of stdout and stderr: ends 130 NAME.
func ends(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ends CODE NAME")
	}
	j := jobNamed(ts, args[1])
	select {
	case <-j.done:
	case <-time.After(patience):
		ts.Fatalf("gave up waiting for the end of %s", args[1])
	}
	all := ts.Value(jobsKey{}).(*jobs)
	all.mu.Lock()
	delete(all.byName, args[1])
	all.mu.Unlock()
	fmt.Fprint(ts.Stdout(), ts.ReadFile(args[1]+".out"))
	fmt.Fprint(ts.Stderr(), ts.ReadFile(args[1]+".err"))
	wantExit(ts, j.cmd, args[0])
}

// waitFor waits until a file exists and matches: waitfor FILE [PATTERN].
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: waitfor FILE [PATTERN]")
	}
	re, err := regexp.Compile(`(?m)` + strings.Join(args[1:], ""))
	ts.Check(err)
	name := ts.MkAbs(args[0])
	eventually(ts, strings.Join(args, " "), func() bool {
		text, err := os.ReadFile(name)
		return err == nil && re.Match(text)
	})
}

// gone waits until the process whose number a file holds has ended.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone FILE")
	}
	pid := strings.TrimSpace(ts.ReadFile(args[0]))
	if _, err := strconv.Atoi(pid); err != nil {
		ts.Fatalf("%s holds no process number: %v", args[0], err)
	}
	eventually(ts, "the end of process "+pid, func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		_, state, _ := bytes.Cut(stat, []byte(") "))
		return err != nil || bytes.HasPrefix(state, []byte("Z"))
	})
}

// vanish waits until exactly so many files match a pattern.
func vanish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: vanish NUMBER PATTERN")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	eventually(ts, "the removal of "+args[1], func() bool {
		found, err := filepath.Glob(ts.MkAbs(args[1]))
		ts.Check(err)
		return len(found) == want
	})
}

// lastPort is the port that freePort gave out last. Ports lie below those that
// the system gives to connections, so that none of them takes one before the
// script's program does, and no two scripts get the same.
var lastPort atomic.Int32

const firstPort, endPort = 10000, 20000

// freePort sets variables to ports of 127.0.0.1 that nothing listens on.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	lastPort.CompareAndSwap(0, int32(firstPort+os.Getpid()%(endPort-firstPort)))
	for _, name := range args {
		for port := lastPort.Add(1); ; port = lastPort.Add(1) {
			if port >= endPort {
				lastPort.CompareAndSwap(port, firstPort)
				continue
			}
			if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
				l.Close()
				ts.Setenv(name, fmt.Sprint(port))
				break
			}
		}
	}
}

// smallDisk makes a folder in which no more than a few bytes fit: a file
// system of its own where that is permitted. Elsewhere it sets LIMITED and
// BYTES to words that go before a program and limit the size of its files.
func smallDisk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: smalldisk BYTES DIR")
	}
	dir := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(dir, 0o755))
	if err := syscall.Mount("loupe", dir, "tmpfs", 0, "size="+args[0]); err != nil {
		ts.Logf("no small file system (%v); the size of files is limited instead", err)
		ts.Setenv("LIMITED", "limited")
		ts.Setenv("BYTES", args[0])
		return
	}
	ts.Defer(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// checkNothingLeft fails a test whose script left processes or private
// folders behind: loupe cleans up after itself whatever happens.
func checkNothingLeft(t testing.TB, work string) {
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		env, err := os.ReadFile(filepath.Join(proc, "environ"))
		if err == nil && bytes.Contains(env, []byte("WORK="+work+"\x00")) {
			cmdline, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
			t.Errorf("process %s is left behind: %q", filepath.Base(proc), cmdline)
			if pid, err := strconv.Atoi(filepath.Base(proc)); err == nil {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	left, _ := filepath.Glob(filepath.Join(work, ".tmp", "loupe-*"))
	if len(left) > 0 {
		t.Errorf("private folders are left behind: %q", left)
	}
}
