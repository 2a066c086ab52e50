package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	only, tools, concurrency string
	rounds, requests         int
	most                     int
	first                    bool
	serverCPU, loadCPU       string

	child             string
	engine, profile   string
	c, maxConns       int
	rate              float64
	length            time.Duration
	freeze, freezeFor time.Duration
	tls               bool
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "cpu,tls,memory,stall,late", "measure these `things`")
	flag.StringVar(&o.tools, "tools", "", "with these `tools` alone: "+strings.Join(toolNames(), ", "))
	flag.StringVar(&o.concurrency, "c", "50,100", "`numbers` of connections")
	flag.IntVar(&o.rounds, "rounds", 5, "run everything `n` times")
	flag.IntVar(&o.requests, "n", 200_000, "`requests` of a run; hey's is a quarter of it")
	flag.BoolVar(&o.first, "first", false, "let generators and server go before all other programs (chrt -f), for\nwhat is a matter of time on a machine that others use; needs root")
	flag.IntVar(&o.most, "most", 10_000_000, "leave out longer runs than of so many `requests` for the memory")
	flag.StringVar(&o.serverCPU, "server-cpu", "1", "pin the server to this `CPU`")
	flag.StringVar(&o.loadCPU, "load-cpu", "0", "pin the generators to this `CPU`")
	flag.StringVar(&o.child, "child", "", "be a part of it: serve, or send to the URL that follows")
	flag.StringVar(&o.engine, "engine", "", "with -child send: the `engine`")
	flag.IntVar(&o.c, "conns", 50, "with -child send: the `number` of connections")
	flag.IntVar(&o.maxConns, "max-conns", 0, "with a rate: let loupe have so many `connections`, ten times -c when zero")
	flag.Float64Var(&o.rate, "rate", 0, "with -child send: requests a second")
	flag.DurationVar(&o.length, "length", 0, "with -child send: for how `long`, instead of -n")
	flag.StringVar(&o.profile, "cpuprofile", "", "with -child send: write a CPU profile to this `file`")
	flag.DurationVar(&o.freeze, "freeze", 0, "with -child serve: stand still so `long` after the first request")
	flag.DurationVar(&o.freezeFor, "freeze-for", time.Second, "with -child serve: and for so `long`")
	flag.BoolVar(&o.tls, "tls", false, "with -child serve: serve https")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	switch o.child {
	case "serve":
		return serve(o)
	case "send":
		return send(o, flag.Arg(0))
	case "":
	default:
		return fmt.Errorf("unknown part %q", o.child)
	}
	list, err := installed(o.tools)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func(*options, []*tool) error
	}{{"cpu", cpu}, {"tls", cpuTLS}, {"memory", memory}, {"stall", stall}, {"late", late}} {
		if slices.Contains(strings.Split(o.only, ","), part.name) {
			if err := part.run(o, list); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	return nil
}

func numbers(list string) (out []int, err error) {
	for _, s := range strings.Split(list, ",") {
		n, e := strconv.Atoi(s)
		err = errors.Join(err, e)
		out = append(out, n)
	}
	return out, err
}

func cpu(o *options, list []*tool) error { return cost(o, list, false) }

func cpuTLS(o *options, list []*tool) error { return cost(o, list, true) }

// cost prints CPU seconds a million requests of every tool.
func cost(o *options, list []*tool, secure bool) error {
	conns, err := numbers(o.concurrency)
	if err != nil {
		return err
	}
	for _, c := range conns {
		s, err := o.server(secure, 0)
		if err != nil {
			return err
		}
		results := map[*tool][]result{}
		for range o.rounds {
			for _, t := range list {
				if secure && t.name == "loupe epoll" {
					continue // TLS is not the loop's
				}
				n := o.requests
				if t.slow {
					n /= 4
				}
				if secure {
					n /= 2
				}
				r, err := t.measure(o, s.url, c, n, 0, 0)
				if err != nil {
					s.stop()
					return err
				}
				results[t] = append(results[t], r)
			}
		}
		s.stop()
		proto := "HTTP/1.1"
		if secure {
			proto += " over TLS"
		}
		fmt.Printf("\n%s, c=%d, %d rounds: CPU seconds for a million requests, median (least–most)\n\n", proto, c, o.rounds)
		fmt.Println("| generator | CPU-s/1M | × wrk | of it user | RSS MiB |\n|---|--:|--:|--:|--:|")
		base := 0.0
		for _, t := range list {
			if t.name == "wrk" {
				base = medianOf(results[t], result.cost)
			}
		}
		for _, t := range list {
			if results[t] == nil {
				continue
			}
			low, mid, high := spread(results[t], result.cost)
			ratio := "–"
			if base > 0 {
				ratio = fmt.Sprintf("%.2f", mid/base)
			}
			fmt.Printf("| %s | %.2f (%.2f–%.2f) | %s | %.2f | %.1f |\n", t.name, mid, low, high, ratio,
				medianOf(results[t], func(r result) float64 { return r.user.Seconds() / float64(r.requests) * 1e6 }),
				medianOf(results[t], func(r result) float64 { return float64(r.memory) / (1 << 20) }))
		}
	}
	return nil
}

// memory prints the peak memory of long runs of ours with every request kept.
func memory(o *options, list []*tool) error {
	s, err := o.server(false, 0)
	if err != nil {
		return err
	}
	defer s.stop()
	fmt.Println("\nPeak memory with every request kept, c=50\n\n| generator | requests | RSS MiB |\n|---|--:|--:|")
	for _, t := range list {
		for _, n := range []int{1_000_000, 10_000_000} {
			if !t.ours || n > 1_000_000 && t.name != "loupe epoll" || n > o.most {
				continue
			}
			r, err := t.measure(o, s.url, 50, n, 0, 0)
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %d | %.1f |\n", t.name, r.requests, float64(r.memory)/(1<<20))
		}
	}
	return nil
}

// stall lets the server stand still for one second of ten at 1,000 requests a
// second. The truth: a tenth of the requests wait for up to a second, evenly,
// so that p99 is 900 ms.
func stall(o *options, list []*tool) error {
	fmt.Println("\nThe server stands still for 1 s of 10, 1,000 requests a second; the truth is p99 = 900 ms\n\n| generator | requests | p99 ms |\n|---|--:|--:|")
	for _, t := range list {
		for _, rate := range []float64{1000, 0} {
			if rate == 0 && t.ours || rate > 0 && t.name == "wrk" {
				continue // a closed loop is no question to us, an open one none to wrk
			}
			s, err := o.server(false, 4500*time.Millisecond)
			if err != nil {
				return err
			}
			r, err := t.measure(o, s.url, 50, 0, rate, 10*time.Second)
			s.stop()
			if err != nil {
				return err
			}
			name := t.name
			if rate == 0 {
				name += ", closed loop"
			}
			fmt.Printf("| %s | %d | %.0f |\n", name, r.requests, r.p99.Seconds()*1e3)
		}
	}
	return nil
}

// late prints how late requests of a schedule are sent.
func late(o *options, list []*tool) error {
	s, err := o.server(false, 0)
	if err != nil {
		return err
	}
	defer s.stop()
	fmt.Println("\nHow late requests are sent at 2,000/s, c=50, median of the rounds\n\n| generator | p50 µs | p99 µs |\n|---|--:|--:|")
	for _, t := range list {
		if !t.ours {
			continue
		}
		var all []result
		for range o.rounds {
			r, err := t.measure(o, s.url, 50, 0, 2000, 3*time.Second)
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		fmt.Printf("| %s | %.0f | %.0f |\n", t.name,
			medianOf(all, func(r result) float64 { return r.lag50.Seconds() * 1e6 }), medianOf(all, func(r result) float64 { return r.lag99.Seconds() * 1e6 }))
	}
	return nil
}

func spread(all []result, of func(result) float64) (low, mid, high float64) {
	var values []float64
	for _, r := range all {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values[0], (values[(len(values)-1)/2] + values[len(values)/2]) / 2, values[len(values)-1]
}

func medianOf(all []result, of func(result) float64) float64 {
	_, mid, _ := spread(all, of)
	return mid
}
