package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"loupe/format/dump"
	"loupe/source/system"
)

// child does one thing in this process.
func child(o *options, args []string) error {
	if len(args) != 1 {
		return errors.New("-child wants one FILE")
	}
	var f *dump.File
	switch o.child {
	case "make":
		return makeDump(o.goroutines, args[0])
	case "parse":
		data, _, err := system.Map(args[0]) // as long as the process lives
		if err != nil {
			return err
		}
		f = dump.Parse(data)
	case "stream":
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		if f, err = dump.Read(file); err != nil {
			return err
		}
	default:
		return fmt.Errorf("there is no -child=%s", o.child)
	}
	groups := f.Groups(nil)
	fmt.Println(f.Goroutines(), len(groups), anonymous())
	return nil
}

// anonymous returns the resident memory of this process that belongs to no
// file, as Linux counts it; 0 elsewhere.
func anonymous() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("RssAnon:"))
	number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	kilobytes, _ := strconv.ParseInt(string(number), 10, 64)
	return kilobytes << 10
}

// makeDump starts goroutines that wait in three dozen places and writes what the
// runtime prints of them, as debug=2 does but without its limit.
func makeDump(n int, name string) error {
	var mu sync.Mutex
	mu.Lock()
	w := waiter{mu: &mu, in: make(chan int), out: make(chan int), wg: new(sync.WaitGroup), cond: sync.NewCond(new(sync.Mutex))}
	w.wg.Add(1)
	for i := range n {
		go w.serve(i, fmt.Sprint("request ", i), i%6, i/6%6)
	}
	for runtime.NumGoroutine() <= n {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(3 * time.Second) // so that they are all where they wait
	for size := 64 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if used := runtime.Stack(buf, true); used < size {
			return os.WriteFile(name, buf[:used], 0o644)
		}
	}
}

// waiter has everything that there is to wait for.
type waiter struct {
	mu   *sync.Mutex
	in   chan int // nobody sends
	out  chan int // nobody receives
	wg   *sync.WaitGroup
	cond *sync.Cond
}

//go:noinline
func (w *waiter) serve(id int, request string, where, depth int) int {
	return w.handle(id, []byte(request), where, depth)
}

//go:noinline
func (w *waiter) handle(id int, body []byte, where, depth int) int {
	if depth > 0 {
		return w.handle(id+1, body, where, depth-1) + 1
	}
	return w.wait(where, fmt.Errorf("no answer to %d", id))
}

//go:noinline
func (w *waiter) wait(where int, err error) int {
	switch where {
	case 0:
		w.mu.Lock()
	case 1:
		return <-w.in
	case 2:
		w.out <- len(err.Error())
	case 3:
		w.wg.Wait()
	case 4:
		select {
		case n := <-w.in:
			return n
		case <-time.After(time.Hour):
		}
	case 5:
		w.cond.L.Lock()
		w.cond.Wait()
	}
	return where
}
