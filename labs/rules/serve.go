package main

import (
	"net/http"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

// listen serves requests with a handler until the process is ended.
func listen(handle http.HandlerFunc) {
	if err := http.ListenAndServe(addr, handle); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

// ld01 has one worker that takes five milliseconds for an answer: two hundred a second are
// all that it can do. The other form has room for all that come.
func ld01() {
	workers := make(chan bool, 1)
	if fixed {
		workers = make(chan bool, 1000)
	}
	listen(func(w http.ResponseWriter, _ *http.Request) {
		workers <- true
		time.Sleep(5 * time.Millisecond)
		<-workers
	})
}

// ld03 answers within milliseconds, but for half a second now and then.
func ld03() {
	var n atomic.Int64
	listen(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(2 * time.Millisecond)
		if n.Add(1)%1000 == 500 && !fixed {
			time.Sleep(500 * time.Millisecond)
		}
	})
}

// ld04 answers faster than anybody can ask; the other form takes its time.
func ld04() {
	listen(func(w http.ResponseWriter, _ *http.Request) {
		if fixed {
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// ld05 refuses each tenth request.
func ld05() {
	var n atomic.Int64
	listen(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%10 == 0 && !fixed {
			http.Error(w, "no", http.StatusInternalServerError)
		}
	})
}

// sc07 computes for tens of milliseconds for each request, more than the Ps can do; the other
// form has little to do.
func sc07() {
	listen(func(w http.ResponseWriter, _ *http.Request) {
		if !fixed {
			counted14.Add(int64(count(60_000_000) & 1))
		}
	})
}

// sc14 is the same: each computation delays all other requests.
func sc14() { sc07() }

var counted14 atomic.Int64

// be03 is built to be counted (-cover); the other form as users have it.
func be03() { spend(func() { counted += int(count(1_000_000)) }) }

// be04 has the block profiler count each of its waits while the CPU profiler runs.
func be04() {
	if !fixed {
		runtime.SetBlockProfileRate(1)
	}
	there, back := make(chan int), make(chan int)
	go func() {
		for n := range there {
			back <- n
		}
	}()
	spend(func() {
		for range 1000 {
			there <- 1
			counted += <-back
		}
	})
	close(there)
}

// be05 has each allocation counted (GODEBUG=memprofilerate=1).
func be05() { serve(func() { sink = new([64]byte) }) }

// be08 is over before a profile has enough samples.
func be08() {
	if fixed {
		spend(func() { counted += int(count(1_000_000)) })
		return
	}
	counted += int(count(150_000_000))
}

// be10 overwrites all that the collector frees (GODEBUG=clobberfree=1).
func be10() {
	for range 3 {
		serve(func() { sink = new([64]byte) })
	}
}
