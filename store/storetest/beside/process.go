//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server that runs.
type process struct {
	cmd  *exec.Cmd
	done chan error
	said bytes.Buffer
}

// start starts a program. What it prints is kept, to be shown when it fails.
func start(nice int, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	_ = syscall.Setpriority(syscall.PRIO_PGRP, p.cmd.Process.Pid, nice)
	go func() { p.done <- p.cmd.Wait() }()
	return p, nil
}

// alive tells whether it still runs.
func (p *process) alive() error {
	select {
	case err := <-p.done:
		p.done <- err
		said := p.said.String()
		return fmt.Errorf("%s has ended: %v\n%s", p.cmd.Path, err, said[max(0, len(said)-2000):])
	default:
		return nil
	}
}

// stop ends it as a service manager does.
func (p *process) stop() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.done:
		p.done <- err
	case <-time.After(time.Minute):
		p.cmd.Process.Kill()
		p.done <- <-p.done
	}
}

// tick is how long the kernel's unit of CPU time is.
const tick = 10 * time.Millisecond

// cpu is what the process has used so far, in steps of a tick.
func (p *process) cpu() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * tick
}

// memory is what the process has, or the most that it has had since peakAnew, in bytes.
func (p *process) memory(key string) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(v)[0], 10, 64)
			return n * 1024
		}
	}
	return 0
}

func (p *process) rss() int64  { return p.memory("VmRSS") }
func (p *process) peak() int64 { return p.memory("VmHWM") }

// peakAnew begins the peak anew.
func (p *process) peakAnew() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// disk is what files below a folder take of the disk: blocks that were allocated, whether
// there is anything in them or not.
func disk(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has just gone
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	})
	return n
}

// watchDisk calls disk all the time until the context ends, and returns the most.
func watchDisk(ctx context.Context, dir string) func() int64 {
	most, done := int64(0), make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			most = max(most, disk(dir))
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		most = max(most, disk(dir))
	}()
	return func() int64 { <-done; return most }
}

// freePort asks the kernel for a port that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// load is the load of the machine, of the last minute.
func load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	return first
}
