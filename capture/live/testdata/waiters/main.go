// Waiters has goroutines in every state that can be held still, for the tests to
// look at from outside. It prints its address when all are there, and serves its
// goroutines as Go itself tells them.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"time"
)

type server interface{ serve(ch chan int) int }

type real struct{ n int }

func (r real) serve(ch chan int) int { return <-ch + r.n }

func deep(ch chan int, depth int) int {
	if depth > 0 {
		return deep(ch, depth-1) + 1
	}
	return inlined(ch)
}

func inlined(ch chan int) int { return <-ch }

func lock(mu *sync.Mutex) {
	mu.Lock()
	mu.Unlock()
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ch, full := make(chan int), make(chan int, 1)
	full <- 1
	var mu sync.Mutex
	mu.Lock()
	var all sync.WaitGroup
	all.Add(1)
	for i := 0; i < n; i++ {
		go deep(ch, i%7)
	}
	for i := 0; i < 3; i++ {
		go lock(&mu)
		go all.Wait()
		go func() { full <- 2 }()
		var s server = &real{i}
		go s.serve(ch)
	}
	go time.Sleep(time.Hour)
	go func() { select {} }()
	go func() {
		select {
		case <-ch:
		case full <- 3:
		}
	}()
	go func() {
		runtime.LockOSThread()
		<-ch
	}()
	http.HandleFunc("/goroutines", func(w http.ResponseWriter, r *http.Request) { pprof.Lookup("goroutine").WriteTo(w, 2) })
	go http.Serve(l, nil)
	time.Sleep(200 * time.Millisecond)
	fmt.Println(l.Addr())
	<-ch
}
