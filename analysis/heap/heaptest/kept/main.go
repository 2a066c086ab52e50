// Command kept is a program that keeps memory in places that are known. It compiles with
// Go 1.21 and says "ready" when all is there.
package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

type order struct {
	number int64
	lines  [11]int64 // 96 bytes in all
}

type store struct {
	name   string
	orders map[string]*order
	recent []*order
}

type link struct {
	next *link
	data [7]int64
}

type side struct{ rows []*order }

type both struct{ left, right *side }

type router struct {
	child *router
	serve func() int
}

type branch struct {
	left, right *branch
	data        [6]int64
}

type session struct{ packets [][]byte }

var (
	shop   = &store{name: "shop", orders: map[string]*order{}} // 20,000 orders, by a field of a global
	chain  *link                                               // 20,000 links of 64 bytes
	pair   both                                                // 10,000 orders on each side
	cells  [5000]*order                                        // the variable itself
	one    = map[int]*order{}                                  // 10,000 orders
	two    = map[int]*order{}                                  // the same
	first  *side                                               // 10,000 orders
	second *side                                               // the same
	routes *router                                             // one in another, to a closure with 10,000 orders
	tree   *branch                                             // 32,767 of 64 bytes
	blob   []byte
	number int64
)

func orders(n int) (all []*order) {
	for i := 0; i < n; i++ {
		number++
		all = append(all, &order{number: number})
	}
	return all
}

// collector keeps what it has seen on its stack alone.
func collector(ready chan<- bool) {
	var seen [][]byte
	for i := 0; i < 1000; i++ {
		seen = append(seen, make([]byte, 1024))
	}
	ready <- true
	<-make(chan bool)
	runtime.KeepAlive(seen)
}

// grow makes a tree.
func grow(depth int) *branch {
	if depth == 0 {
		return nil
	}
	return &branch{left: grow(depth - 1), right: grow(depth - 1)}
}

// route makes a closure that holds what nothing else does.
//
//go:noinline
func route() *router {
	byNumber := map[int64]*order{}
	for _, o := range orders(10000) {
		byNumber[o.number] = o
	}
	return &router{child: &router{serve: func() int { return len(byNumber) }}}
}

// serve is one of many that keep something each.
func serve(ready chan<- bool) {
	s := &session{}
	for i := 0; i < 20; i++ {
		s.packets = append(s.packets, make([]byte, 1536))
	}
	ready <- true
	<-make(chan bool)
	runtime.KeepAlive(s)
}

func main() {
	for _, o := range orders(20000) {
		shop.orders[fmt.Sprint("order ", o.number)] = o
	}
	for i := 0; i < 20000; i++ {
		chain = &link{next: chain}
	}
	pair.left, pair.right = new(side), new(side)
	pair.left.rows, pair.right.rows = orders(10000), orders(10000)
	copy(cells[:], orders(5000))
	for i, o := range orders(10000) {
		one[i], two[i] = o, o
	}
	first = &side{rows: orders(10000)}
	second = first
	routes, tree = route(), grow(15)
	blob = make([]byte, 1<<20)
	ready := make(chan bool)
	go collector(ready)
	<-ready
	for i := 0; i < 100; i++ {
		go serve(ready)
		<-ready
	}
	runtime.GC()
	runtime.GC()
	debug.SetGCPercent(-1)
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
