// Command keeper keeps memory in the place that its second argument names, and listens at the
// address of its first when all is there. With "ends" it ends by itself.
package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
)

type order struct {
	id    int
	lines [63]int64 // 512 bytes in all
}

type cache struct {
	name    string
	entries map[string]*order
}

type server struct {
	address string
	cache   *cache
}

const many = 60_000

var (
	orders = map[int]*order{}
	front  *server
)

type title struct{ Text string }

var titles = map[int]*title{}

func text(i int) string { return string(bytes.Repeat([]byte{byte('a' + i%26)}, 64<<10)) }

func make1(i int) *order { return &order{id: i} }

// collect keeps what it has seen on its stack alone.
func collect(ready chan<- bool) {
	var seen []*order
	for i := range many {
		seen = append(seen, make1(i))
	}
	ready <- true
	<-make(chan bool)
	runtime.KeepAlive(seen)
}

func fill(where string) {
	switch where {
	case "map", "ends":
		for i := range many {
			orders[i] = make1(i)
		}
	case "field":
		front = &server{address: os.Args[1], cache: &cache{"orders", map[string]*order{}}}
		for i := range many {
			front.cache.entries[fmt.Sprint("order ", i)] = make1(i)
		}
	case "stack":
		ready := make(chan bool)
		go collect(ready)
		<-ready
	case "split": // two places hold the orders of one line, half and half
		front = &server{cache: &cache{"orders", map[string]*order{}}}
		for i := range many / 2 {
			orders[i] = make1(i)
			front.cache.entries[fmt.Sprint("order ", i)] = make1(i)
		}
	case "parts": // of each text 16 bytes are kept
		for i := range 1500 {
			titles[i] = &title{Text: text(i)[16:32]}
		}
	}
}

func main() {
	fill(os.Args[2])
	runtime.GC()
	runtime.GC()
	if os.Args[2] == "ends" {
		time.Sleep(3 * time.Second)
		fmt.Println(len(orders))
		return
	}
	l, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}
}
