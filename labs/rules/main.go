package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

// fixed tells whether the form is the clean one.
var fixed bool

// sink keeps results, so that the compiler cannot leave out what makes them.
var sink any

func main() {
	rule := flag.String("rule", "", "the rule whose program is to run")
	form := flag.String("form", "slow", "slow, which the rule must find, or fixed, its clean twin")
	flag.StringVar(&addr, "addr", "127.0.0.1:0", "where those listen that are to be put under load")
	flag.Parse()
	run, ok := programs[*rule]
	if !ok || *form != "slow" && *form != "fixed" {
		fmt.Fprintf(os.Stderr, "rules: there is no -rule %q in a -form %q\n", *rule, *form)
		os.Exit(2)
	}
	fixed = *form == "fixed"
	run()
}

// spend repeats a piece of work until the process has used a second of CPU time, so that
// profiles have as many samples on a busy machine as on a quiet one.
func spend(work func()) {
	for from := cpuTime(); cpuTime()-from < time.Second; {
		work()
	}
}

// serve is spend for what allocates: each turn ends with an answer of 32 KB that is thrown
// away, so that there is something to judge in the clean form as well.
func serve(work func()) {
	spend(func() {
		work()
		sink = make([]byte, 32<<10)
	})
}

// last repeats a piece of work for a second by the clock: what waits uses no CPU time.
func last(work func()) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		work()
	}
}

// together starts n goroutines of work and waits for all of them.
func together(n int, work func(i int)) {
	done := make(chan bool)
	for i := range n {
		go func() {
			work(i)
			done <- true
		}()
	}
	for range n {
		<-done
	}
}

// count does some arithmetic that the compiler cannot leave out: about a nanosecond a
// turn.
//
//go:noinline
func count(turns int) (x uint64) {
	for i := range turns {
		x = x*6364136223846793005 + uint64(i)
	}
	return x
}

// keep holds on to values until the end.
func keep(x any) { runtime.KeepAlive(x) }
