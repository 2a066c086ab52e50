package main

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// tree is a million nodes that the collector has to follow one by one.
func tree(n int) *node {
	if n == 0 {
		return nil
	}
	return &node{left: tree((n - 1) / 2), right: tree(n - 1 - (n-1)/2), value: n}
}

// gc03 collects small garbage beside a heap of objects that point at each other; the other
// form makes as little garbage as most programs do.
func gc03() {
	const n = 100_000
	if fixed {
		flat := make([]int, 4*n)
		spend(func() {
			counted += int(count(1_000_000)) + flat[counted&1023]
			sink = make([]byte, 256<<10)
		})
		keep(flat)
		return
	}
	root := tree(n)
	spend(func() {
		for range 1000 {
			sink = &node{left: root}
		}
	})
	keep(root)
}

// gc05 keeps millions of small objects that point at each other, and makes garbage all the
// time: those that allocate have to help the collector. The other form keeps the same in one
// piece and makes none.
func gc05() {
	const n = 3_000_000
	if fixed {
		flat := make([]int, 4*n)
		last(func() { counted += int(count(1_000_000)) + flat[counted&1023] })
		keep(flat)
		return
	}
	root := tree(n)
	end := time.Now().Add(2 * time.Second)
	together(4, func(int) {
		var own []*node
		for time.Now().Before(end) {
			own = own[:0]
			for range 1000 {
				own = append(own, &node{left: root})
			}
		}
		keep(own)
	})
	keep(root)
}

// gc13 is the same: most of the heap is in objects with pointers.
func gc13() { gc05() }

// gc01 collects beside programs that take the CPUs: the threads that have to stop come late.
func gc01() { collectBeside(neighbours) }

func collectBeside(others func(n int) (end func())) {
	defer others(4 * runtime.NumCPU())()
	root := tree(10_000)
	end := time.Now().Add(3 * time.Second)
	together(4, func(int) {
		for time.Now().Before(end) {
			made.Store(&[8192]byte{})
		}
	})
	keep(root)
}

// gc02 is the same: what takes long is to stop.
func gc02() { gc01() }

// be06 is the same beside programs that do not belong to this one.
func be06() { collectBeside(strangers) }

// gc04 makes garbage beside a heap of next to nothing; the other form makes none.
func gc04() {
	var buf []byte
	if fixed {
		buf = make([]byte, 64<<10)
	}
	spend(func() {
		for range 100 {
			if !fixed {
				buf = make([]byte, 64<<10)
			}
			buf[0] = 1
			sink = &buf[0]
		}
	})
}

// gc06 has a limit of memory below what it keeps, so that the runtime has to stop collecting
// for the program to get on at all; the other form has none.
func gc06() {
	if !fixed {
		debug.SetMemoryLimit(8 << 20)
	}
	root := tree(1_000_000)
	from, end := cpuTime(), time.Now().Add(3*time.Second)
	together(4, func(int) {
		for !fixed && cpuTime()-from < 5*time.Second || fixed && time.Now().Before(end) {
			for range 10 {
				made.Store(&[8192]byte{})
			}
			if fixed {
				time.Sleep(10 * time.Millisecond)
			}
		}
	})
	keep(root)
}

var made atomic.Pointer[[8192]byte]

// gc15 has a finalizer that waits, and drops objects that have one; the other form closes them
// itself.
func gc15() {
	type handle struct{ room [64]byte }
	wait := make(chan bool)
	for range 40 {
		for range 1000 {
			h := &handle{}
			if !fixed {
				runtime.SetFinalizer(h, func(*handle) { <-wait })
			}
			sink = h
		}
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
	}
}

// gc16 keeps each answer in a table from which nothing is deleted; the other form keeps the
// last ten.
func gc16() {
	answers := map[int][]byte{}
	for i := range 1500 {
		answers[i] = answer()
		if fixed {
			delete(answers, i-10)
		}
	}
	stay()
	keep(answers)
}

func answer() []byte { return make([]byte, 64<<10) }

// gc14 keeps half of what its container has, so that the goal of the heap is all of it. The
// other form is run with GOMEMLIMIT.
func gc14() {
	kept := make([][]byte, 0, 48)
	for range cap(kept) {
		kept = append(kept, make([]byte, 1<<20))
	}
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		sink = make([]byte, 1<<20)
		time.Sleep(time.Millisecond)
	}
	keep(kept)
}
