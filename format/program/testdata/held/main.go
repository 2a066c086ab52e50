// Held has goroutines in every state, for the tests of package program: it waits
// until it is killed, or dies of a nil pointer.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

type request struct {
	id   int
	name string
	tags []string
	next *request
}

type number interface{ ~int | ~float64 }

//go:noinline
func wait(r *request, ch chan int, list []int, share float64, table map[string]int, any interface{}, err error) int {
	defer func() { fmt.Print(r.name, list, share, table, any, err) }()
	n := <-ch
	return n + r.id + len(list)
}

//go:noinline
func generic[T number](x T, ch chan T) T { return x + <-ch }

//go:noinline
func deep(n int, ch chan int) int {
	if n == 0 {
		return <-ch
	}
	return deep(n-1, ch) + n
}

//go:noinline
func spin(n uint64, name string) uint64 {
	for s := n; ; s = s*6364136223846793005 + 1 {
		if s == 42 {
			return s + uint64(len(name))
		}
	}
}

//go:noinline
func packed(a, b bool, c uint8, d int16, ch chan int) int {
	n := <-ch
	if a && b {
		n += int(c) + int(d)
	}
	return n
}

//go:noinline
func die(r *request, list []int) int {
	if len(list) > 9 {
		return die(r.next, list)
	}
	return r.next.id + len(list)
}

// settled says that all goroutines have begun, and that those wait which do not
// spin: there are two of these, and one that asks.
func settled(text string) bool {
	return !strings.Contains(text, "[runnable]:\ncreated by") && strings.Count(text, " [runnable]:")+strings.Count(text, " [running]:") <= 3
}

func main() {
	ch := make(chan int, 3)
	for i := 0; i < 10; i++ {
		r := &request{i, strings.Repeat("x", i+1), []string{"a", "b"}, &request{name: "second"}}
		go wait(r, ch, []int{1, 2, i}, 1.5, map[string]int{"k": i}, time.Duration(i), os.ErrExist)
	}
	go generic(2, ch)
	go generic(2.5, make(chan float64))
	go deep(300, ch)
	go packed(true, false, 25, -10, ch)
	go spin(7, fmt.Sprint("spinner", len(os.Args)))
	go func() {
		for {
			time.Now()
		}
	}()
	var mu sync.Mutex
	mu.Lock()
	go func() { mu.Lock() }()
	go func() {
		select {
		case <-ch:
		case <-time.After(time.Hour):
		}
	}()
	go func() { os.Stdin.Read(make([]byte, 10)) }()
	if len(os.Args) > 1 {
		time.Sleep(100 * time.Millisecond)
		debug.SetTraceback("crash")
		die(&request{id: 7, name: "seven"}, []int{1, 2, 3})
	}
	go func() {
		for text := make([]byte, 1<<20); !settled(string(text[:runtime.Stack(text, true)])); {
			time.Sleep(20 * time.Millisecond)
		}
		fmt.Println("ready")
	}()
	wait(&request{}, make(chan int), nil, 0, nil, nil, nil)
}
