// Command held is a program whose goroutines hold what nothing else does, each kind
// of thing in another kind of variable: tests count what is found through them. It
// compiles with Go 1.21 and says "ready" when all is there.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

type parcel struct {
	weight int64
	next   *parcel
	note   [3]int64
}

type box struct {
	lid  *lid
	side [2]int64
}

type lid struct{ size [5]int64 }

type cup struct {
	saucer *lid
	full   [4]int64
}

func (c *cup) sip() int64 { return c.full[0] }

type sipper interface{ sip() int64 }

type bean struct {
	pod  *bean
	seed [6]int64
}

type kite struct {
	tail *kite
	wind [8]int64
}

type ghost struct {
	chain *ghost
	cold  [10]int64
}

type crate struct {
	id   int64
	lid  *lid
	name string
}

var (
	gate   = make(chan bool)
	ready  = make(chan bool)
	total  int64
	boiled func() int64
)

//go:noinline
func wait() {
	ready <- true
	<-gate
}

// inParameter holds three parcels, one after the other.
//
//go:noinline
func inParameter(first *parcel) {
	wait()
	total += first.weight
}

// inSlice holds 20 boxes.
//
//go:noinline
func inSlice(n int) {
	boxes := make([]*box, n)
	for i := range boxes {
		boxes[i] = &box{lid: &lid{}}
	}
	wait()
	for _, b := range boxes {
		total += b.side[0]
	}
}

// inArray holds four boxes.
//
//go:noinline
func inArray(n int) {
	var four [4]*box
	for i := range four {
		four[i] = &box{lid: newLid()}
	}
	wait()
	total += four[n%4].side[0]
}

// inInterface holds a cup.
//
//go:noinline
func inInterface(s sipper) {
	wait()
	total += s.sip()
}

// inStruct holds a lid in a variable whose address is taken.
//
//go:noinline
func inStruct(n int64) {
	c := crate{id: n, lid: newLid()}
	fill(&c)
	wait()
	fill(&c)
	total += c.lid.size[0] + c.id
}

//go:noinline
func newLid() *lid { return &lid{} }

//go:noinline
func fill(c *crate) { c.id++ }

// inClosure holds a bean and its pod in a func value that is a variable.
//
//go:noinline
func inClosure(f func() int64) {
	wait()
	total += f()
}

// escaped holds a kite in a variable that has moved to the heap.
//
//go:noinline
func escaped(n int64) {
	k := kite{tail: &kite{}}
	k.wind[0] = n
	go func() {
		wait()
		total += k.wind[0]
	}()
	k.wind[2]++
	wait()
	total += k.wind[1]
}

// stale has let go of a ghost, which its frame may still show.
//
//go:noinline
func stale(n int64) {
	g := &ghost{chain: &ghost{}}
	haunt(g)
	wait()
	total += n
}

//go:noinline
func haunt(g *ghost) { total += g.cold[0] + g.chain.cold[0] }

func newBean() func() int64 {
	b := &bean{pod: &bean{}}
	return func() int64 { return b.seed[0] + b.pod.seed[0] }
}

func main() {
	debug.SetGCPercent(-1)
	go inParameter(&parcel{next: &parcel{next: &parcel{}}})
	go inSlice(len(os.Args) * 20)
	go inArray(len(os.Args))
	go inInterface(&cup{saucer: &lid{}})
	go inStruct(int64(len(os.Args)))
	go inClosure(newBean())
	go escaped(int64(len(os.Args)))
	boiled = newBean()
	for i := 0; i < 8; i++ {
		<-ready
	}
	runtime.GC()
	runtime.GC()
	// Garbage that no collection has seen.
	go stale(int64(len(os.Args)))
	<-ready
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
