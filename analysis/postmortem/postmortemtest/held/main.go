//go:build unix

// Command held is a program whose core is known: tests copy its memory and look for
// what they know of it. It says "ready"; with SIGUSR1 it keeps more and says "more";
// with the argument "panic" it fails.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

type session struct {
	next *session
	user *user
	id   int
}

type user struct{ name string }

// box has a name that no page must read as HTML.
type box[T any] struct{ v T }

type marked = struct {
	A int `x:"<img src=x onerror=alert(1)>"`
}

type request struct {
	id   int
	name string
}

var (
	sessions *session
	users    = map[string]*user{}
	texts    []string
	boxes    []*box[marked]
	forever  = make(chan int, 2)
)

func grow(n int) {
	for i := range n {
		sessions = &session{next: sessions, id: i}
	}
	runtime.GC()
}

//go:noinline
func serve(r *request, list []int, ch chan int) int { return <-ch + r.id + len(list) }

//go:noinline
func fail(r *request, why string) { panic("no session left: <b>" + why + "</b>") }

func main() {
	for i := range 500 {
		name := fmt.Sprint("the user with the number ", i)
		users[name] = &user{name}
	}
	for range 20 {
		texts = append(texts, strings.Repeat("<img src=x onerror=alert(1)> \x1b[31mred alert\x1b[0m \u202etrela ", 40))
		boxes = append(boxes, &box[marked]{marked{1}})
	}
	for i := range 7 {
		go serve(&request{i, fmt.Sprint("request <i>", i)}, []int{1, 2, 3}, forever)
	}
	wake := make(chan os.Signal, 1)
	signal.Notify(wake, syscall.SIGUSR1)
	grow(1000)
	for buf := make([]byte, 1<<16); strings.Count(string(buf[:runtime.Stack(buf, true)]), "[chan receive") < 7; {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("ready")
	if len(os.Args) > 1 {
		go fail(&request{42, "the very last request"}, "pool <i>empty</i>")
	}
	<-wake
	grow(3000)
	fmt.Println("more")
	<-wake
}
