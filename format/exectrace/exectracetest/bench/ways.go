package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"loupe/source/system"
)

// sample is what one process took.
type sample struct {
	cpu, wall float64 // seconds; CPU is user and system time
	rss       int64   // peak, in bytes
	beyond    int64   // the part of it that is not the file; 0 if not known
	events    int64   // that it has counted, if it does
	failed    string  // why it did not come to its end
}

// way is one way of reading a trace.
type way struct {
	name string
	run  func(t *tools, o *options, file string) (sample, error)
}

// The names of the ways.
const (
	oracleRead   = "official-reader"
	oracleSum    = "official-summarizer"
	ourRead      = "loupe-reader"
	ourSum       = "loupe-summarizer"
	ourAnalysis  = "loupe-analysis"
	ourPage      = "loupe-page"
	ourPageTwo   = "loupe-page-ahead"
	summaryFirst = "summary-first"
	summaryAgain = "summary-again"
	viewerWay    = "viewer"
)

// ways are all of them.
var ways = []way{
	{oracleRead, func(t *tools, o *options, file string) (sample, error) { return counted(t.oracle, "count", file) }},
	{ourRead, func(t *tools, o *options, file string) (sample, error) { return counted(t.self, "-child=read", file) }},
	{oracleSum, func(t *tools, o *options, file string) (sample, error) { return counted(t.oracle, "load", file) }},
	{ourSum, func(t *tools, o *options, file string) (sample, error) {
		return counted(t.self, "-child=summarize", file)
	}},
	{ourAnalysis, func(t *tools, o *options, file string) (sample, error) {
		return counted(t.self, "-child=analyze", file)
	}},
	{ourPage, func(t *tools, o *options, file string) (sample, error) { return counted(t.self, "-child=page", file) }},
	{ourPageTwo, func(t *tools, o *options, file string) (sample, error) {
		return countedOn(nil, t.self, "-child=page", file)
	}},
	{summaryFirst, func(t *tools, o *options, file string) (sample, error) {
		cache, err := os.MkdirTemp(t.tmp, "cache-")
		if err != nil {
			return sample{}, err
		}
		defer os.RemoveAll(cache)
		return summary(t, cache, file)
	}},
	{summaryAgain, func(t *tools, o *options, file string) (sample, error) {
		cache := filepath.Join(t.tmp, "kept", filepath.Base(file))
		if _, err := os.Stat(cache); err != nil {
			if _, err := summary(t, cache, file); err != nil {
				return sample{}, err
			}
		}
		return summary(t, cache, file)
	}},
	{viewerWay, view},
}

func wayNames() (names []string) {
	for _, w := range ways {
		names = append(names, w.name)
	}
	return names
}

// measure waits for a process and tells what it took since start.
func measure(cmd *exec.Cmd, start time.Time) (sample, error) {
	err := cmd.Wait()
	p := cmd.ProcessState
	if p == nil {
		return sample{}, err
	}
	cpu := p.UserTime() + p.SystemTime()
	return sample{cpu: cpu.Seconds(), wall: time.Since(start).Seconds(), rss: system.PeakMemory(p)}, err
}

// counted runs a command on one P that prints how many events it has read, and
// maybe what memory it had beyond the file.
func counted(name string, args ...string) (sample, error) {
	return countedOn([]string{"GOMAXPROCS=1"}, name, args...)
}

// countedOn is counted with other settings than one P.
func countedOn(env []string, name string, args ...string) (sample, error) {
	var out, stderr strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	s, err := measure(cmd, start)
	if err != nil {
		return s, fmt.Errorf("%w: %s", err, &stderr)
	}
	var second int64
	if n, _ := fmt.Sscan(out.String(), &s.events, &second); n == 0 {
		return s, fmt.Errorf("it printed %q, not a number of events", out.String())
	}
	if !strings.HasPrefix(args[0], "-child") {
		second = 0 // the oracle's goroutines
	}
	s.beyond = second
	return s, nil
}

// summary runs loupe trace summary with a cache of its own.
func summary(t *tools, cache, file string) (sample, error) {
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return sample{}, err
	}
	var stderr strings.Builder
	cmd := exec.Command(t.loupe, "trace", "summary", file)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "XDG_CACHE_HOME="+cache, "HOME="+cache)
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	s, err := measure(cmd, start)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, &stderr)
	}
	return s, err
}

// viewerPatience is how long go tool trace may take to answer.
const viewerPatience = 10 * time.Minute

// view starts go tool trace, within a bound on its address space, and waits
// until its first page answers.
func view(t *tools, o *options, file string) (sample, error) {
	limit := fmt.Sprintf(`ulimit -v %d && exec "$@"`, o.viewerMemory.Bytes>>10)
	cmd := exec.Command("sh", "-c", limit, "sh", t.viewer, "-http=127.0.0.1:0", file)
	cmd.Env = append(os.Environ(), "BROWSER=true") // it opens none
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return sample{}, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	late := time.AfterFunc(viewerPatience, func() { cmd.Process.Kill() })
	defer late.Stop()
	failed := answer(stderr)
	cmd.Process.Kill()
	io.Copy(io.Discard, stderr)
	s, err := measure(cmd, start)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil // we have ended it, or its memory has
	}
	s.failed = failed
	return s, err
}

// answer waits until the viewer says where it listens and gets its first page.
// It returns why there is none.
func answer(stderr io.Reader) (failed string) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		line := lines.Text()
		if strings.Contains(line, "out of memory") || strings.Contains(line, "cannot allocate memory") {
			return "out of memory"
		}
		_, url, ok := strings.Cut(line, "listening on ")
		if !ok {
			continue
		}
		page, err := http.Get(strings.TrimSpace(url))
		if err != nil {
			return err.Error()
		}
		defer page.Body.Close()
		if _, err := io.Copy(io.Discard, page.Body); err != nil || page.StatusCode != http.StatusOK {
			return page.Status
		}
		return ""
	}
	return "no answer"
}
