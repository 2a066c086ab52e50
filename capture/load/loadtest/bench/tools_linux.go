package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tool is a generator of load.
type tool struct {
	name string
	ours bool
	slow bool // several times the CPU time of the others
	// args is the command line; n is 0 when length says when to stop.
	args func(url string, c, n int, rate float64, length time.Duration) []string
	// requests and p99 find how many were sent and how long they took.
	requests, p99 *regexp.Regexp
}

// result is one run.
type result struct {
	requests  int
	cpu, user time.Duration
	memory    int64
	p99       time.Duration
	lag50     time.Duration
	lag99     time.Duration
}

func (r result) cost() float64 { return r.cpu.Seconds() / float64(r.requests) * 1e6 }

// wrkRate is about what wrk sends in a second here: it can only be told how
// long to send.
const wrkRate = 60_000

var tools = []*tool{
	ours("epoll"), ours("net"),
	{name: "wrk", args: func(url string, c, n int, rate float64, length time.Duration) []string {
		if n > 0 {
			length = max(3*time.Second, time.Duration(n)*time.Second/wrkRate)
		}
		return []string{"wrk", "-t1", "-c" + strconv.Itoa(c), "-d" + strconv.Itoa(int(length.Seconds())) + "s", "--latency", url}
	}, requests: regexp.MustCompile(`(\d+) requests in`), p99: regexp.MustCompile(`99%\s+(\S+)`)},
	{name: "hey", slow: true, args: func(url string, c, n int, rate float64, length time.Duration) []string {
		args := []string{"hey", "-cpus", "1", "-c", strconv.Itoa(c)}
		if n > 0 {
			args = append(args, "-n", strconv.Itoa(n))
		} else {
			args = append(args, "-z", length.String())
		}
		if rate > 0 {
			args = append(args, "-q", strconv.FormatFloat(rate/float64(c), 'f', -1, 64))
		}
		return append(args, url)
	}, requests: regexp.MustCompile(`\[200\]\s+(\d+) responses`), p99: regexp.MustCompile(`99% in (\S+ secs)`)},
	{name: "oha", args: func(url string, c, n int, rate float64, length time.Duration) []string {
		args := []string{"oha", "--no-tui", "--insecure", "-c", strconv.Itoa(c)}
		if n > 0 {
			args = append(args, "-n", strconv.Itoa(n))
		} else {
			args = append(args, "-w", "-z", length.String())
		}
		if rate > 0 {
			args = append(args, "--latency-correction", "-q", strconv.FormatFloat(rate, 'f', -1, 64))
		}
		return append(args, url)
	}, requests: regexp.MustCompile(`\[200\] (\d+) responses`), p99: regexp.MustCompile(`99\.00% in (\S+ \S+)`)},
	{name: "bombardier", args: func(url string, c, n int, rate float64, length time.Duration) []string {
		args := []string{"bombardier", "-k", "-l", "-p", "r", "-c", strconv.Itoa(c)}
		if n > 0 {
			args = append(args, "-n", strconv.Itoa(n))
		} else {
			args = append(args, "-d", length.String())
		}
		if rate > 0 {
			args = append(args, "-r", strconv.Itoa(int(rate)))
		}
		return append(args, url)
	}, requests: regexp.MustCompile(`2xx - (\d+)`), p99: regexp.MustCompile(`99%\s+(\S+)`)},
}

// ours is this program with one of loupe's engines.
func ours(engine string) *tool {
	return &tool{name: "loupe " + engine, ours: true, args: func(url string, c, n int, rate float64, length time.Duration) []string {
		return []string{os.Args[0], "-child", "send", "-engine", engine, "-conns", strconv.Itoa(c), "-n", strconv.Itoa(n),
			"-rate", strconv.FormatFloat(rate, 'f', -1, 64), "-length", length.String(), url}
	}, requests: regexp.MustCompile(`requests=(\d+)`), p99: regexp.MustCompile(`p99=(\S+)`)}
}

func toolNames() (names []string) {
	for _, t := range tools {
		names = append(names, t.name)
	}
	return names
}

// installed returns the tools that are there.
func installed(only string) (list []*tool, err error) {
	for _, t := range tools {
		if only != "" && !slices.Contains(strings.Split(only, ","), t.name) {
			continue
		}
		if _, err := exec.LookPath(t.args("", 1, 1, 0, 0)[0]); err != nil {
			fmt.Fprintf(os.Stderr, "%s is not installed, it is left out\n", t.name)
			continue
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no tools of %q are there", only)
	}
	return list, nil
}

// measure runs the tool, pinned to its CPU.
func (t *tool) measure(o *options, url string, c, n int, rate float64, length time.Duration) (result, error) {
	args := append(o.pinned(o.loadCPU), t.args(url, c, n, rate, length)...)
	if t.ours && rate > 0 {
		args = slices.Insert(args, len(args)-1, "-max-conns", strconv.Itoa(o.maxConns))
	}
	cmd := exec.Command(args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return result{}, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	use := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	r := result{
		cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), user: cmd.ProcessState.UserTime(),
		memory: int64(use.Maxrss) << 10,
	}
	m := t.requests.FindSubmatch(out.Bytes())
	if m == nil {
		return r, fmt.Errorf("%s: no number of requests in\n%s", strings.Join(args, " "), out.Bytes())
	}
	r.requests, _ = strconv.Atoi(string(m[1]))
	if r.requests == 0 || n > 0 && t.name != "wrk" && r.requests < n-c {
		return r, fmt.Errorf("%s: %d of %d requests were answered\n%s", strings.Join(args, " "), r.requests, n, out.Bytes())
	}
	if m := t.p99.FindSubmatch(out.Bytes()); m != nil {
		r.p99, _ = time.ParseDuration(strings.ReplaceAll(strings.ReplaceAll(string(m[1]), " secs", "s"), " sec", "s"))
		if r.p99 == 0 {
			r.p99, _ = time.ParseDuration(strings.ReplaceAll(string(m[1]), " ", ""))
		}
	}
	for _, m := range regexp.MustCompile(`lag(50|99)=(\S+)`).FindAllSubmatch(out.Bytes(), -1) {
		d, _ := time.ParseDuration(string(m[2]))
		if string(m[1]) == "50" {
			r.lag50 = d
		} else {
			r.lag99 = d
		}
	}
	return r, nil
}

// pinned begins the command line of a process on one CPU.
func (o *options) pinned(cpu string) []string {
	args := []string{"taskset", "-c", cpu}
	if o.first {
		args = append(args, "chrt", "-f", "10")
	}
	return args
}

// server is the server in a process of its own.
type server struct {
	url string
	cmd *exec.Cmd
}

func (o *options) server(secure bool, freeze time.Duration) (*server, error) {
	args := append(o.pinned(o.serverCPU), os.Args[0], "-child", "serve", "-freeze", freeze.String(), "-tls="+strconv.FormatBool(secure))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd}
	if _, err := fmt.Fscanln(pipe, &s.url); err != nil {
		s.stop()
		return nil, fmt.Errorf("cannot start the server: %w", err)
	}
	return s, nil
}

func (s *server) stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}
