// Command mktrace writes an execution trace of a chosen size, for measuring
// what reads traces.
//
//	mktrace -workload mixed -size 100MB -o mixed-100.trace
//
// The workloads are http (a JSON server, its clients and a shared cache), chan
// (pipelines, selects, tickers, short-lived goroutines), tasks (user tasks
// with nested regions, messages and children), mutex (a hot lock and a
// condition), mixed (these four at once), idle (100,000 parked goroutines
// beside chan) and dense (200,000 goroutines that take turns). Each worker draws what it does from a generator with a fixed
// seed: sizes and the mix of events are alike from run to run, the order in
// which the scheduler lets them happen is not.
//
// It has the standard library alone and compiles with Go 1.21 and later, so
// that an older toolchain makes the format of its time. This module asks for a
// newer one: copy the two files out of it.
//
//	cp format/exectrace/exectracetest/mktrace/*.go DIR && cd DIR
//	GOTOOLCHAIN=go1.22.12 go build -o mktrace main.go workloads.go
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mktrace:", err)
		os.Exit(1)
	}
}

func run() error {
	workload := flag.String("workload", "mixed", "what the program does: `http, chan, tasks, mutex, mixed, idle or dense`")
	size := flag.String("size", "10MB", "stop when about this `much` is written; what the runtime still holds comes on top")
	longest := flag.Duration("max", 5*time.Minute, "stop after this `time` in any case")
	procs := flag.Int("procs", runtime.GOMAXPROCS(0), "GOMAXPROCS; 32 on a small machine gives many threads in each generation")
	cpu := flag.Bool("cpu", false, "run the CPU profiler too, so that the trace has its samples")
	out := flag.String("o", "", "the `file` to write")
	flag.Parse()
	start := workloads[*workload]
	limit, err := parseSize(*size)
	switch {
	case start == nil:
		return fmt.Errorf("there is no workload %q (-h lists them)", *workload)
	case err != nil:
		return err
	case *out == "" || flag.NArg() > 0:
		return fmt.Errorf("say with -o which file to write, and nothing else")
	}
	runtime.GOMAXPROCS(*procs)
	file, err := os.Create(*out)
	if err != nil {
		return err
	}
	w := &limitedWriter{w: file, left: limit, full: make(chan struct{})}
	if err := record(w, start, *longest, *cpu); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// record traces a workload until w is full or the time is over.
func record(w *limitedWriter, start func(*crew), longest time.Duration, cpu bool) error {
	c := &crew{stop: make(chan struct{})}
	start(c) // before the trace, so that it begins in the middle of the work
	if cpu {
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if err := trace.Start(w); err != nil {
		return err
	}
	select {
	case <-w.full:
	case <-time.After(longest):
	}
	trace.Stop()
	close(c.stop)
	c.wait.Wait()
	return w.err
}

// crew is the goroutines of a workload. They stop when stop is closed.
type crew struct {
	stop chan struct{}
	wait sync.WaitGroup
}

// work starts a goroutine, which asks on before each round. It begins with f
// itself, so that a trace tells the workers apart.
func (c *crew) work(f func()) {
	c.wait.Add(1)
	go f()
}

// on says whether there is another round. The worker that gets false has told
// that it ends.
func (c *crew) on() bool {
	select {
	case <-c.stop:
		c.wait.Done()
		return false
	default:
		return true
	}
}

// untilStop starts a goroutine that waits for the end and does f then.
func (c *crew) untilStop(f func()) {
	c.wait.Add(1)
	go func() {
		defer c.wait.Done()
		<-c.stop
		f()
	}()
}

// limitedWriter passes everything on and tells when its limit is reached. The
// runtime needs more after that, to end the trace.
type limitedWriter struct {
	w    io.Writer
	left int64
	full chan struct{} // closed when nothing is left
	err  error         // of the file; read after trace.Stop alone
}

// Write writes to the file. It never fails: the runtime would not end a trace
// that it cannot write.
func (w *limitedWriter) Write(p []byte) (int, error) {
	if _, err := w.w.Write(p); err != nil && w.err == nil {
		w.err = err
	}
	before := w.left
	w.left -= int64(len(p))
	if before > 0 && w.left <= 0 {
		close(w.full)
	}
	return len(p), nil
}

// parseSize reads a number of bytes: "10MB", "512kB".
func parseSize(s string) (int64, error) {
	number, factor := s, int64(1)
	for _, u := range []struct {
		name   string
		factor int64
	}{{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}} {
		if strings.HasSuffix(s, u.name) {
			number, factor = strings.TrimSuffix(s, u.name), u.factor
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("-size %q is not a size like 10MB", s)
	}
	return n * factor, nil
}
