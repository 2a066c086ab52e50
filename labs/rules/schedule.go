package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/trace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// sc04 starts a goroutine for each of thousands of parts; the other form a worker for each P.
func sc04() {
	n := 3_000
	if fixed {
		n = runtime.GOMAXPROCS(0)
	}
	var all atomic.Int64
	spend(func() {
		together(n, func(int) {
			for range 3_000 / n {
				all.Add(int64(count(100_000)))
			}
		})
	})
}

// sc12 has a thread for each of those that wait; the other form has goroutines.
func sc12() {
	end := make(chan bool)
	for range 150 {
		go func() {
			if !fixed {
				runtime.LockOSThread()
			}
			<-end
		}()
	}
	time.Sleep(2 * time.Second)
	close(end)
}

// sc18 wakes all that wait for work, of whom one finds some; the other form wakes one.
func sc18() {
	var lock sync.Mutex
	work := sync.NewCond(&lock)
	items, end := 0, false
	taken := make(chan bool)
	var workers sync.WaitGroup
	for range 64 {
		workers.Go(func() {
			for {
				lock.Lock()
				for items == 0 && !end {
					work.Wait()
				}
				if end {
					lock.Unlock()
					return
				}
				items--
				lock.Unlock()
				taken <- true
			}
		})
	}
	last(func() {
		lock.Lock()
		items++
		lock.Unlock()
		if fixed {
			work.Signal()
		} else {
			work.Broadcast()
		}
		<-taken
		time.Sleep(100 * time.Microsecond)
	})
	lock.Lock()
	end = true
	lock.Unlock()
	work.Broadcast()
	workers.Wait()
}

// lk04 has thirty goroutines work under one lock; the other form locks once for each.
func lk04() {
	var lock sync.Mutex
	sum := uint64(0)
	end := time.Now().Add(time.Second)
	together(32, func(int) {
		own := uint64(0)
		for time.Now().Before(end) {
			if fixed {
				own += count(20_000)
				continue
			}
			lock.Lock()
			sum += count(20_000)
			lock.Unlock()
		}
		lock.Lock()
		sum += own
		lock.Unlock()
	})
}

// lk07 has goroutines wait for a group of which one sleeps for longer than all others; the
// other form gives none of them anything to sleep for.
func lk07() {
	together(4, func(int) {
		last(func() {
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					if !fixed && i == 0 {
						time.Sleep(5 * time.Millisecond)
					}
					count(1000)
				})
			}
			group.Wait()
			if fixed {
				time.Sleep(5 * time.Millisecond)
			}
		})
	})
}

// lk08 has senders for whom one receiver is too slow; the other form receives at once.
func lk08() {
	items := make(chan int)
	var done sync.WaitGroup
	done.Go(func() {
		for range items {
			if !fixed {
				time.Sleep(time.Millisecond)
			}
		}
	})
	together(8, func(int) {
		last(func() {
			items <- 1
			time.Sleep(100 * time.Microsecond)
		})
	})
	close(items)
	done.Wait()
}

// wt05 asks eight shards side by side in each task, one of which takes ten times as long; in
// the other form all are alike.
func wt05() {
	last(func() {
		ctx, task := trace.NewTask(context.Background(), "page")
		defer task.End()
		var shards sync.WaitGroup
		for i := range 8 {
			shards.Go(func() { askShard(ctx, i) })
		}
		shards.Wait()
	})
}

func askShard(ctx context.Context, i int) {
	defer trace.StartRegion(ctx, "shard").End()
	wait := 2 * time.Millisecond
	if !fixed && i == 3 {
		wait = 20 * time.Millisecond
	}
	time.Sleep(wait)
}

// wt09 dials where nobody listens, again and again; the other form pauses between.
func wt09() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	nobody := l.Addr().String()
	l.Close()
	last(func() {
		if c, err := net.Dial("tcp", nobody); err == nil {
			c.Close()
		}
		if fixed {
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// sc06 has small pieces of work for each P, beside programs that take the CPUs: the threads
// that are to run them come late.
func sc06() {
	defer neighbours(4 * runtime.NumCPU())()
	pieces, done := make(chan int), make(chan uint64)
	for range 8 {
		go func() {
			for n := range pieces {
				done <- count(n)
			}
		}()
	}
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		for range 8 {
			pieces <- 20_000
		}
		for range 8 {
			counted += int(<-done)
		}
	}
	close(pieces)
}

// fa02 adds up in two goroutines without a lock; the other form has one. It is built with -race.
func fa02() {
	var lock sync.Mutex
	sum := 0
	together(2, func(int) {
		for range 1000 {
			if fixed {
				lock.Lock()
			}
			sum++
			if fixed {
				lock.Unlock()
			}
		}
	})
	sink = sum
}

// neighbours starts programs that take a CPU each, and returns what ends them. The other
// form has none.
func neighbours(n int) (end func()) {
	if fixed {
		n = 0
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all []*exec.Cmd
	for range n {
		c := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if c.Start() == nil {
			all = append(all, c)
		}
	}
	return func() {
		cancel()
		for _, c := range all {
			_ = c.Wait() // it was killed
		}
	}
}

// strangers is the same with programs that nobody can tell to come from this one: they have a session and an
// environment of their own, and what has started them ends at once. They end with this program, or after a while.
func strangers(n int) (end func()) {
	setsid, err := exec.LookPath("setsid")
	if fixed || err != nil {
		return neighbours(n)
	}
	const loop = `for i in $(seq "$2"); do
	(k=0; while [ $k -lt 1000 ] && kill -0 "$1" 2>/dev/null; do
		k=$((k+1)); j=0; while [ $j -lt 20000 ]; do j=$((j+1)); done
	done) &
done`
	c := exec.Command(setsid, "sh", "-c", loop, "sh", strconv.Itoa(os.Getpid()), strconv.Itoa(n))
	c.Env = []string{"PATH=" + os.Getenv("PATH")}
	if c.Run() != nil {
		return neighbours(n)
	}
	return func() {}
}

// sc08 computes on more Ps than its container has CPUs; the other form works a twentieth of
// the time.
func sc08() {
	end := time.Now().Add(5 * time.Second)
	together(2, func(int) {
		for time.Now().Before(end) {
			counted16.Add(int64(count(1_000_000) & 1))
			if fixed {
				time.Sleep(40 * time.Millisecond)
			}
		}
	})
}

// sc19 asks a goroutine that is locked to its thread for each answer.
func sc19() {
	questions, answers := make(chan int), make(chan int)
	go doubles(questions, answers)
	spend(func() {
		for i := range 1_000 {
			questions <- i
			counted += <-answers
		}
	})
	close(questions)
}

// doubles answers with twice the number, on one thread in the slow form.
func doubles(questions <-chan int, answers chan<- int) {
	if !fixed {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	for q := range questions {
		answers <- 2 * q
	}
}
