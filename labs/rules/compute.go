package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"math/bits"
	"os/user"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// cp01 computes in one function all the time; the other form goes round a dozen, none of
// which is much.
func cp01() {
	spend(func() {
		if !fixed {
			counted += int(count(1_000_000))
			return
		}
		for _, part := range parts {
			part()
		}
	})
}

// cp02 reads a feed as XML for each answer; the other form has read it once.
func cp02() {
	type item struct {
		Title string `xml:"title"`
		Price int    `xml:"price"`
	}
	var feed struct {
		Items []item `xml:"item"`
	}
	text := []byte("<feed>" + strings.Repeat("<item><title>one</title><price>1</price></item>", 100) + "</feed>")
	read := func() {
		feed.Items = nil
		if err := xml.Unmarshal(text, &feed); err != nil {
			panic(err)
		}
	}
	read()
	spend(func() {
		if !fixed {
			read()
		}
		counted += int(count(len(feed.Items)))
	})
}

// cp05 hands each number from one goroutine to another; the other form hands over a thousand.
func cp05() {
	batch := 1
	if fixed {
		batch = 1000
	}
	numbers := make(chan []int)
	back := make(chan []int)
	go func() {
		for all := range numbers {
			for _, n := range all {
				counted += int(count(n))
			}
			back <- all
		}
	}()
	all := make([]int, batch)
	for i := range all {
		all[i] = 100
	}
	spend(func() {
		for range 1000 / batch {
			numbers <- all
			all = <-back
		}
	})
	close(numbers)
}

// cp06 copies a megabyte to add up its first bytes.
func cp06() {
	data := make([]byte, 1<<20)
	other := make([]byte, len(data))
	spend(func() {
		for range 10 {
			part := data[:1000]
			if !fixed {
				copy(other, data)
				part = other[:1000]
			}
			for _, b := range part {
				counted += int(b)
			}
		}
	})
}

// cp07 adds up with an index that the compiler cannot prove to be in range.
func cp07() {
	a, b := make([]int, 4096), make([]int, 4096)
	spend(func() {
		for range 100 {
			if fixed {
				counted += addAll(a)
			} else {
				counted += addEach(a, b, len(a))
			}
		}
	})
}

func addAll(a []int) (sum int) {
	for _, x := range a {
		sum += x
	}
	return sum
}

func addEach(a, b []int, n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += a[i] + b[i]
	}
	return sum
}

// cp08 calls a function that is a little too large to be inlined; that of the other form is not.
func cp08() {
	spend(func() {
		for i := range 100_000 {
			if fixed {
				counted += small(i, counted)
			} else {
				counted += middling(i, counted)
			}
		}
	})
}

func small(a, b int) int { return a ^ b>>3 + bits.OnesCount(uint(a)) }

func middling(a, b int) int {
	x := a ^ b>>3
	y := a<<5 + b
	x = x*31 + y
	y = y*17 ^ x
	x = x>>7 + y*13
	y = y<<2 ^ x*11
	x = x*7 + y>>1
	y = y*5 - x
	if x > y {
		x, y = y, x
	}
	x = x*3 + y
	y = y ^ x<<4
	return x*y + a - b
}

// cp11 counts bits in a build for the oldest processors, which have no instruction for that; the
// other form computes something else.
func cp11() {
	words := make([]uint64, 4096)
	for i := range words {
		words[i] = count(i)
	}
	spend(func() {
		for range 100 {
			for _, w := range words {
				if fixed {
					counted += int(w >> 60)
				} else {
					counted += bits.OnesCount64(w)
				}
			}
		}
	})
}

// cp12 asks for the time at each step; the other form once for all of them.
func cp12() {
	var at time.Time
	spend(func() {
		for i := range 10_000 {
			if !fixed || i == 0 {
				at = time.Now()
			}
			counted += at.Nanosecond() + int(count(10))
		}
	})
}

// cp13 logs each step; the other form one of a thousand.
func cp13() {
	log.SetOutput(io.Discard)
	out := log.New(&sink13{}, "step ", log.LstdFlags)
	spend(func() {
		for i := range 1000 {
			if !fixed || i == 0 {
				out.Printf("item %d of %d is done", i, 1000)
			}
			counted += int(count(50))
		}
	})
}

// sink13 counts what is written to it; package log leaves out what goes to io.Discard.
type sink13 struct{ bytes int }

func (s *sink13) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}

// cp14 starts a goroutine for each task, whose stack has to grow to its depth; the other
// form has a worker.
func cp14() {
	tasks, done := make(chan int), make(chan int)
	go func() {
		for n := range tasks {
			done <- deep(n)
		}
	}()
	spend(func() {
		for range 100 {
			if fixed {
				tasks <- 200
			} else {
				go func() { done <- deep(200) }()
			}
			counted += <-done
		}
	})
}

//go:noinline
func deep(n int) int {
	var room [64]int
	room[n%64] = n
	if n == 0 {
		return 0
	}
	return deep(n-1) + room[n%64]
}

// cp15 asks the C library for a group again and again; the other form keeps the answer.
func cp15() {
	known, _ := user.LookupGroupId("0")
	spend(func() {
		for range 100 {
			if !fixed {
				known, _ = user.LookupGroupId("0")
			}
			if known != nil {
				counted += int(count(1000))
			}
		}
	})
}

// cp16 sends each number through a channel that four goroutines use, whose lock is the
// runtime's; the other form sends a sum of many.
func cp16() {
	shared := make(chan int, 1)
	from := cpuTime()
	together(4, func(int) {
		for cpuTime()-from < time.Second {
			for i := range 10_000 {
				if fixed && i > 0 {
					counted16.Add(int64(count(10)) & 1)
					continue
				}
				select {
				case shared <- 1:
				default:
				}
				select {
				case <-shared:
				default:
				}
			}
		}
	})
}

var counted16 atomic.Int64

// cp17 looks up each item by a long key; the other form by its position.
func cp17() {
	const n = 1000
	keys, values, at := make([]string, n), make(map[string]int, n), make([]int, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s/item/%d", strings.Repeat("folder/", 30), i)
		values[keys[i]], at[i] = i, i
	}
	spend(func() {
		for range 100 {
			for i, key := range keys {
				if fixed {
					counted += at[i]
				} else {
					counted += values[key]
				}
			}
		}
	})
}

// cp19 sorts all names to find the first; the other form looks for the least.
func cp19() {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("name %d", i*7919%10_007)
	}
	spend(func() {
		if fixed {
			counted += len(slices.Min(names))
			return
		}
		all := slices.Clone(names)
		slices.Sort(all)
		counted += len(all[0])
	})
}

// cp21 finds out by trying which layout a date has; the other form tries that one first.
func cp21() {
	layouts := []string{time.RFC3339, time.RFC1123Z, time.RFC850, time.ANSIC, time.Kitchen, time.DateTime}
	if fixed {
		slices.Reverse(layouts)
	}
	serve(func() {
		for range 1_000 {
			for _, l := range layouts {
				if at, err := time.Parse(l, "2026-11-26 12:30:00"); err == nil {
					sink = at
					break
				}
			}
		}
	})
}

// sc13 looks again and again whether something has come; the other form waits.
func sc13() {
	news, stop := make(chan int), make(chan bool)
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			if fixed {
				select {
				case n := <-news:
					counted += n
				case <-stop:
					return
				}
				continue
			}
			select {
			case n := <-news:
				counted += n
			case <-stop:
				return
			default:
			}
		}
	})
	spend(func() {
		if fixed {
			counted += int(count(1_000_000))
		} else {
			time.Sleep(time.Millisecond)
		}
	})
	close(stop)
	ended.Wait()
}

// sc16 moves the deadlines of thousands of timers with each message; the other form has one.
func sc16() {
	n := 5_000
	if fixed {
		n = 1
	}
	timers := make([]*time.Timer, n)
	for i := range timers {
		timers[i] = time.AfterFunc(time.Hour+time.Duration(i)*time.Second, func() {})
	}
	turn := 0
	spend(func() {
		for i := range 100 {
			turn++
			timers[(turn*7919)%n].Reset(time.Hour + time.Duration(turn*104729%3600)*time.Second)
			counted += int(count(10 + i%2))
			if fixed {
				counted += int(count(1000))
			}
		}
	})
}
