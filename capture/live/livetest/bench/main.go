//go:build unix

// Command bench measures what it costs to read the goroutines of a running
// process from outside, beside asking the process itself with debug=2: CPU time of
// the reader, and how long the target was kept from its work.
//
//	go run ./capture/live/livetest/bench -goroutines 100000
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"loupe/capture/live"
	"loupe/capture/live/livetest"
	"loupe/format/dump"
)

func main() {
	log.SetFlags(0)
	n := flag.Int("goroutines", 100_000, "`number` of goroutines of the target")
	rounds := flag.Int("rounds", 3, "`number` of rounds")
	flag.Parse()
	if err := run(*n, *rounds); err != nil {
		log.Fatalln("bench:", err)
	}
}

func run(n, rounds int) error {
	dir, err := os.MkdirTemp("", "loupe-live-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, err := livetest.Build(dir, "loupe/capture/live/livetest/bench/target")
	if err != nil {
		return err
	}
	c := exec.Command(bin, fmt.Sprint(n))
	address, err := livetest.Start(c)
	if err != nil {
		return err
	}
	defer livetest.Stop(c)
	base := "http://" + address
	fmt.Println("way              CPU of the reader  took       longest pause of the target  goroutines")
	for range rounds {
		if err := measure(base, "nothing", func() (int64, error) { time.Sleep(time.Second); return 0, nil }); err != nil {
			return err
		}
		err := measure(base, "from outside", func() (int64, error) {
			p, err := live.Open(c.Process.Pid)
			if err != nil {
				return 0, err
			}
			defer p.Close()
			f, err := p.Goroutines()
			if err != nil {
				return 0, err
			}
			f.Groups(nil)
			return f.Goroutines(), nil
		})
		if err != nil {
			return err
		}
		err = measure(base, "debug=2", func() (int64, error) {
			resp, err := http.Get(base + "/debug/pprof/goroutine?debug=2")
			if err != nil {
				return 0, err
			}
			defer resp.Body.Close()
			f, err := dump.Read(resp.Body)
			if err != nil {
				return 0, err
			}
			f.Groups(nil)
			return f.Goroutines(), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// measure runs one way and prints what it cost.
func measure(base, name string, look func() (int64, error)) error {
	if _, err := pause(base); err != nil {
		return err
	}
	cpu, began := used(), time.Now()
	n, err := look()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	cpu, took := used()-cpu, time.Since(began)
	longest, err := pause(base)
	if err != nil {
		return err
	}
	fmt.Printf("%-16s %17s  %-9s  %-27s  %d\n", name, cpu.Round(time.Millisecond), took.Round(time.Millisecond), longest.Round(10*time.Microsecond), n)
	return nil
}

func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func pause(base string) (time.Duration, error) {
	resp, err := http.Get(base + "/pause")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(ns), err
}
