//go:build linux

// Command bench measures what it costs to read a heap out of a core file: CPU time
// and the most memory that the reader has had, with its share of the core.
//
//	go run ./analysis/heap/heaptest/bench -mb 900
//
// It builds and fills a program, takes its core by gcore (of gdb) and reads it
// several times. With -viewcore PATH it lets that program make its histogram beside
// it. Given a program and its core, it reads those.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"loupe/analysis/heap"
	"loupe/capture/live/livetest"
	"loupe/format/core"
	"loupe/format/program"
	"loupe/format/symbol"
)

func main() {
	log.SetFlags(0)
	mb := flag.Int("mb", 900, "megabytes that the `program` fills")
	rounds := flag.Int("rounds", 3, "`number` of rounds")
	peer := flag.String("viewcore", "", "`program` to compare with")
	read := flag.String("read", "", "read a core in one `way` and end: histogram, retained or holds")
	flag.Parse()
	var err error
	switch {
	case *read != "":
		err = readCore(*read, flag.Arg(0), flag.Arg(1))
	case flag.NArg() == 2:
		err = compare(flag.Arg(0), flag.Arg(1), *peer, *rounds)
	default:
		err = makeCore(*mb, *peer, *rounds)
	}
	if err != nil {
		log.Fatalln("bench:", err)
	}
}

// makeCore makes a core and reads it.
func makeCore(mb int, peer string, rounds int) error {
	dir, err := os.MkdirTemp("", "loupe-heap-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, err := livetest.Build(dir, "loupe/analysis/heap/heaptest/bench/target")
	if err != nil {
		return err
	}
	c := exec.Command(bin, strconv.Itoa(mb))
	if _, err := livetest.Start(c); err != nil {
		return err
	}
	defer livetest.Stop(c)
	file := filepath.Join(dir, "core")
	if out, err := exec.Command("gcore", "-o", file, strconv.Itoa(c.Process.Pid)).CombinedOutput(); err != nil {
		return fmt.Errorf("gcore: %w\n%s", err, out)
	}
	c.Process.Kill()
	return compare(bin, file+"."+strconv.Itoa(c.Process.Pid), peer, rounds)
}

// compare reads a core in all ways, each in a process of its own.
func compare(bin, file, peer string, rounds int) error {
	st, err := os.Stat(file)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Printf("a core of %d MB\nway         CPU      took     most memory  of the core\n", st.Size()>>20)
	for range rounds {
		for _, way := range []string{"histogram", "retained", "holds", "viewcore"} {
			c := exec.Command(self, "-read", way, bin, file)
			if way == "viewcore" {
				if peer == "" {
					continue
				}
				c = exec.Command(peer, file, "--exe", bin, "histogram")
			}
			began := time.Now()
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", way, err, out)
			}
			u := c.ProcessState.SysUsage().(*syscall.Rusage)
			cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
			fmt.Printf("%-10s  %-7s  %-7s  %8d MB  %10.1f%%\n", way, cpu.Round(10*time.Millisecond), time.Since(began).Round(10*time.Millisecond), u.Maxrss>>10, 100*float64(u.Maxrss<<10)/float64(st.Size()))
		}
	}
	return nil
}

// readCore reads a core and prints the first types.
func readCore(way, bin, file string) error {
	b, err := os.Open(bin)
	if err != nil {
		return err
	}
	defer b.Close()
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	s, err := symbol.Open(b, symbol.Options{})
	if err != nil {
		return err
	}
	c, err := core.Open(f, st.Size())
	if err != nil {
		return err
	}
	mem := c.Memory()
	for _, g := range s.Segments {
		mem.Back(core.Backing{Addr: g.Addr, Size: g.FileSize, From: b, Offset: int64(g.Offset)})
	}
	debug.SetGCPercent(20) // as loupe core does
	p, err := program.Open(mem, s, 0)
	if err != nil {
		return err
	}
	unwind, err := p.Unwinder(nil)
	if err != nil {
		return err
	}
	h, err := heap.Open(mem, s, 0, heap.Options{Unwind: func(g uint64, visit func(heap.Frame) bool) {
		unwind(g, func(a program.Activation) bool {
			return visit(heap.Frame{PC: a.PC, Exact: a.Exact, Low: a.SP, CFA: a.CFA})
		})
	}})
	if err != nil {
		return err
	}
	if way != "histogram" {
		g, err := h.Graph()
		if err != nil {
			return err
		}
		if way == "holds" {
			for _, x := range g.Ways("main.record") {
				fmt.Printf("%12d %s\n", x.Count, x.Root.Name)
			}
			return nil
		}
		for _, x := range g.Holders(true)[:10] {
			fmt.Printf("%12d %s\n", x.Retained, x.Name)
		}
		for _, r := range g.ByType()[:10] {
			fmt.Printf("%12d %s\n", r.Retained, r.Type)
		}
		return nil
	}
	rows := h.Histogram()
	t := h.Totals()
	fmt.Printf("%d objects, %d bytes, %d bytes unknown, %d bytes garbage\n", t.Reached.Count, t.Reached.Bytes, t.Unknown.Bytes, t.Garbage.Bytes)
	for _, r := range rows[:min(len(rows), 60)] {
		fmt.Printf("%10d %12d %s\n", r.Count, r.Bytes, r.Type)
	}
	return nil
}
