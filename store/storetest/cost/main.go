//go:build linux

// Command cost measures what a target pays for being asked for profiles: a server under a
// steady load, with loupe serve asking it and without, in turns whose order is drawn.
//
//	go build -o loupe ./cmd/loupe
//	go run ./store/storetest/cost -loupe ./loupe -target 127.0.0.1:9100 -load http://127.0.0.1:9100/metrics -q 20 node_exporter
//
// The arguments are the command of the server. Each window begins fifteen seconds after loupe serve:
// its first round of profiles is taken by then. What is compared is the CPU time of the server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loupe/value/stats"
)

type options struct {
	loupe, target, load string
	rate                float64
	window              time.Duration
	pairs               int
	serve               []string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.loupe, "loupe", "loupe", "the loupe that asks")
	flag.StringVar(&o.target, "target", "", "host:port of /debug/pprof")
	flag.StringVar(&o.load, "load", "", "URL that is asked for at a steady rate")
	flag.Float64Var(&o.rate, "q", 100, "requests a second")
	flag.DurationVar(&o.window, "window", time.Minute, "length of a window")
	flag.IntVar(&o.pairs, "pairs", 10, "how many windows with and without")
	flag.Parse()
	if o.target == "" || o.load == "" || flag.NArg() == 0 {
		log.Fatal("usage: cost [-loupe FILE] -target HOST:PORT -load URL [-q N] COMMAND [ARGS]")
	}
	if err := o.run(flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func (o *options) run(command []string) error {
	server, err := start(command[0], command[1:]...)
	if err != nil {
		return err
	}
	defer stop(server)
	if err := answers("http://" + o.target + "/debug/pprof/"); err != nil {
		return err
	}
	if err := answers(o.load); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var failed, sent atomic.Int64
	go o.send(ctx, &sent, &failed)
	time.Sleep(5 * time.Second) // it has warmed up

	var without, with stats.Side
	for pair := range o.pairs {
		order := []bool{false, true}
		if rand.IntN(2) == 0 {
			order[0], order[1] = true, false
		}
		for _, asked := range order {
			used, own, err := o.one(server, asked)
			if err != nil {
				return err
			}
			side := &without
			if asked {
				side = &with
			}
			side.Values, side.Blocks = append(side.Values, used.Seconds()), append(side.Blocks, pair)
			fmt.Printf("%2d asked %-5v  server %7.3f CPU s  loupe %6.3f CPU s\n", pair+1, asked, used.Seconds(), own.Seconds())
		}
	}
	c := stats.Compare(without, with, 0.95)
	mean := func(s stats.Side) (m float64) {
		for _, v := range s.Values {
			m += v / float64(len(s.Values))
		}
		return m
	}
	a, b := mean(without), mean(with)
	fmt.Printf("\n%d requests, %d failed\nwithout %.3f, with %.3f CPU s a window of %v: %+.2f%% of the server [%+.2f%%, %+.2f%%], %+.3f%% of one CPU, p %.3g\n", sent.Load(), failed.Load(), a, b, o.window,
		100*(c.Estimate-1), 100*(c.Low-1), 100*(c.High-1), 100*(b-a)/o.window.Seconds(), c.P)
	return nil
}

// one measures a window, and what loupe serve used itself.
func (o *options) one(server *exec.Cmd, asked bool) (used, own time.Duration, err error) {
	var asks *exec.Cmd
	if asked {
		dir, err := os.MkdirTemp("", "loupe-cost")
		if err != nil {
			return 0, 0, err
		}
		defer os.RemoveAll(dir)
		if asks, err = start(o.loupe, "serve", "-listen", "127.0.0.1:0", "-data", dir, "-targets", o.target); err != nil {
			return 0, 0, err
		}
		defer stop(asks)
	}
	time.Sleep(15 * time.Second) // the first round, or as long without it
	before, err := clock(server)
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(o.window)
	after, err := clock(server)
	if asks != nil && err == nil {
		own, err = clock(asks)
	}
	return after - before, own, err
}

// send asks at a steady rate, whether answers come or not.
func (o *options) send(ctx context.Context, sent, failed *atomic.Int64) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	tick := time.NewTicker(time.Duration(float64(time.Second) / o.rate))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			go func() {
				sent.Add(1)
				resp, err := client.Get(o.load)
				if err != nil {
					failed.Add(1)
					return
				}
				defer resp.Body.Close()
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode >= 400 {
					failed.Add(1)
				}
			}()
		}
	}
}

// answers waits until an address does.
func answers(url string) error {
	var err error
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		var resp *http.Response
		if resp, err = http.Get(url); err == nil {
			resp.Body.Close()
			if resp.StatusCode < 400 {
				return nil
			}
			err = errors.New(resp.Status)
		}
	}
	return fmt.Errorf("%s does not answer: %w", url, err)
}

func start(name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, cmd.Start()
}

func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

// clock is the CPU time that all threads of a process have used (clock_getcpuclockid(3)).
func clock(cmd *exec.Cmd) (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(int32(^cmd.Process.Pid<<3|2), &now); err != nil {
		return 0, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return time.Duration(now.Nano()), nil
}
