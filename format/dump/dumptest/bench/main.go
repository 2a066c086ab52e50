// Command bench measures how goroutine dumps are read: by gostackparse, by
// panicparse and by loupe.
//
//	go run ./format/dump/dumptest/bench                                  100,001 goroutines
//	go run ./format/dump/dumptest/bench -goroutines 1000000 -ways loupe,loupe-stream
//	go run ./format/dump/dumptest/bench FILE...                          dumps that exist
//
// It makes the dump with a program that has so many goroutines, builds the
// others in a module of their own (the first time from the network), runs every
// way as a process of its own, in turns, and prints a table for
// docs/benchmarks.md. Every process has one P, so that CPU time is that of one
// core.
//
// On Linux the peak memory of a process counts the pages of a mapped file.
// "Beyond the file" leaves them out: it is the anonymous memory that our reader
// sees of itself when it is done. Elsewhere it is not known.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/source/system"
	"loupe/value/stats"
)

// options are the flags.
type options struct {
	goroutines, rounds int
	dir, ways          string
	child              string
}

func main() {
	var o options
	flag.IntVar(&o.goroutines, "goroutines", 100_000, "make a dump with this `number` of goroutines, and one more")
	flag.IntVar(&o.rounds, "rounds", 5, "run everything `n` times")
	flag.StringVar(&o.dir, "dir", "", "keep dumps in this `folder`, and use those that are there")
	flag.StringVar(&o.ways, "ways", strings.Join(wayNames(), ","), "measure these `ways`")
	flag.StringVar(&o.child, "child", "", "do this in the process: `make, parse or stream`")
	flag.Parse()
	run := bench
	if o.child != "" {
		run = child
	}
	if err := run(&o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// sample is what one process took.
type sample struct {
	cpu                float64 // seconds, user and system
	rss, beyond        int64   // peak, in bytes, and what is no file of it
	goroutines, groups int64   // that it has found; -1 groups is none made
}

// way is one way of reading a dump.
type way struct {
	name, what string
	args       func(t *tools, file string) []string
}

// ways are all of them.
var ways = []way{
	{"loupe", "parse and group, file mapped", func(t *tools, file string) []string { return []string{t.self, "-child=parse", file} }},
	{"loupe-stream", "the same from a stream", func(t *tools, file string) []string { return []string{t.self, "-child=stream", file} }},
	{"gostackparse", "parse", func(t *tools, file string) []string { return []string{t.peers, "gostackparse", file} }},
	{"panicparse", "parse", func(t *tools, file string) []string { return []string{t.peers, "panicparse", file} }},
	{"panicparse-value", "parse and group by AnyValue", func(t *tools, file string) []string { return []string{t.peers, "panicparse-value", file} }},
}

func wayNames() (names []string) {
	for _, w := range ways {
		names = append(names, w.name)
	}
	return names
}

// tools are the programs that are run.
type tools struct{ self, peers string }

func bench(o *options, files []string) error {
	tmp, err := os.MkdirTemp("", "dump-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	t := &tools{peers: filepath.Join(tmp, "peers")}
	if t.self, err = os.Executable(); err != nil {
		return err
	}
	var turn []way
	for _, w := range ways {
		if slices.Contains(strings.Split(o.ways, ","), w.name) {
			turn = append(turn, w)
		}
	}
	if slices.ContainsFunc(turn, func(w way) bool { return !strings.HasPrefix(w.name, "loupe") }) {
		if err := buildPeers(tmp, t.peers); err != nil {
			return err
		}
	}
	if len(files) == 0 {
		if o.dir == "" {
			o.dir = tmp
		}
		file := filepath.Join(o.dir, fmt.Sprintf("goroutines-%d.txt", o.goroutines))
		if _, err := os.Stat(file); err != nil {
			fmt.Fprintln(os.Stderr, "making", file)
			if out, err := exec.Command(t.self, "-child=make", "-goroutines", strconv.Itoa(o.goroutines), file).CombinedOutput(); err != nil {
				return fmt.Errorf("cannot make %s: %w: %s", file, err, out)
			}
		}
		files = append(files, file)
	}
	for _, file := range files {
		if err := measure(t, o, turn, file); err != nil {
			return err
		}
	}
	return nil
}

// measure runs all ways in turns; the first one of a round changes.
func measure(t *tools, o *options, turn []way, file string) error {
	// Now the file is in the system's cache for all alike. This process must not
	// hold it: Linux counts the memory of a parent as the child's before exec.
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(io.Discard, f)
	if err != nil {
		return err
	}
	size := float64(n)
	samples := map[string][]sample{}
	for round := range o.rounds {
		for i := range turn {
			w := turn[(i+round)%len(turn)]
			s, err := runWay(w.args(t, file))
			if err != nil {
				return fmt.Errorf("%s of %s: %w", w.name, file, err)
			}
			samples[w.name] = append(samples[w.name], s)
			fmt.Fprintf(os.Stderr, "%d/%d %s: %.3f s CPU, %d MB, %d goroutines\n", round+1, o.rounds, w.name, s.cpu, s.rss>>20, s.goroutines)
		}
	}
	fmt.Printf("%s, %.1f MB, %d rounds; medians (least–most):\n\n", filepath.Base(file), size/1e6, o.rounds)
	fmt.Print("| reader | what it does | CPU s | MB/s of CPU | peak MB | beyond the file | goroutines | groups |\n|---|---|--:|--:|--:|--:|--:|--:|\n")
	for _, w := range turn {
		var cpu, speed, rss, beyond []float64
		for _, s := range samples[w.name] {
			cpu, speed = append(cpu, s.cpu), append(speed, size/1e6/s.cpu)
			rss, beyond = append(rss, float64(s.rss)/(1<<20)), append(beyond, float64(s.beyond)/(1<<20))
		}
		last, groups, outside := samples[w.name][0], "–", "–"
		if last.groups >= 0 {
			groups = strconv.FormatInt(last.groups, 10)
		}
		if last.beyond > 0 {
			outside = spread(beyond, "%.1f")
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %d | %s |\n", w.name, w.what, spread(cpu, "%.3f"), spread(speed, "%.0f"), spread(rss, "%.0f"), outside, last.goroutines, groups)
	}
	return nil
}

func spread(v []float64, format string) string {
	return fmt.Sprintf(format+" ("+format+"–"+format+")", stats.Median(v), slices.Min(v), slices.Max(v))
}

// patience is how long one process may take.
const patience = 10 * time.Minute

// runWay runs a command on one P, which prints the goroutines and the groups
// that it has found, and its memory beyond the file if it knows that.
func runWay(args []string) (s sample, err error) {
	var out, stderr bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Start(); err != nil {
		return s, err
	}
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		return s, fmt.Errorf("%w: %s", err, &stderr)
	}
	if n, _ := fmt.Sscan(out.String(), &s.goroutines, &s.groups, &s.beyond); n < 2 {
		return s, fmt.Errorf("it printed %q, not two numbers", &out)
	}
	s.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	s.rss = system.PeakMemory(cmd.ProcessState)
	return s, nil
}
