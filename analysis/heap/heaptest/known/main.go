// Command known is a program whose heap is known: tests take its memory and count.
// It compiles with Go 1.21 and says "ready" when all is there.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

type leaf struct {
	key   int64
	value [3]int64
}

type node struct {
	next *node
	leaf *leaf
	pad  [4]int64
}

type wide struct {
	names [100]string
	self  *wide
}

type shape interface{ area() float64 }

type square struct{ side, pad float64 }

func (s *square) area() float64 { return s.side * s.side }

type point struct {
	x, y, z float64
	name    string
}

type held struct{ data [4000]byte }

type pointer struct{ to *held }

var (
	list    *node                // 1000 nodes, each with a leaf
	leaves  []*leaf              // 500 more
	wides   []*wide              // 10
	shapes  []shape              // 200 squares
	anys    []any                // 300 points, boxed
	large   = map[string]*leaf{} // 2000
	small   = map[int32]*point{} // 3: fits one group
	numbers = map[int64]int64{}  // 5000
	texts   []string             // 400 of 100 bytes
	same    []string             // 50 times the same 2000 bytes, each its own
	blob    []byte               // 1 MB
	queue   chan *square         // 64 buffered, 5 in it
	bytes8  chan int64           // its buffer is behind it
	fn      func() int           // holds a slice
	buffers [][]byte             // 30 of 5000 bytes
	literal = &pointer{}         // a variable without a name
	floats  []float64            // 100000
)

func fill() {
	for i := 0; i < 1000; i++ {
		list = &node{next: list, leaf: &leaf{key: int64(i)}}
	}
	for i := 0; i < 500; i++ {
		leaves = append(leaves, &leaf{key: int64(i)})
	}
	for i := 0; i < 10; i++ {
		wides = append(wides, &wide{})
	}
	for i := 0; i < 200; i++ {
		shapes = append(shapes, &square{side: 1})
	}
	for i := 0; i < 300; i++ {
		anys = append(anys, point{x: float64(i)})
	}
	for i := 0; i < 2000; i++ {
		large[fmt.Sprintf("a key of more than sixteen bytes: %08d", i)] = &leaf{}
	}
	for i := 0; i < 3; i++ {
		small[int32(i)] = &point{}
	}
	for i := 0; i < 5000; i++ {
		numbers[int64(i)] = 1
	}
	for i := 0; i < 400; i++ {
		texts = append(texts, strings.Repeat(string(rune('a'+i%26)), 100))
	}
	for i := 0; i < 50; i++ {
		same = append(same, strings.Repeat("the same text again ", 100))
	}
	blob = make([]byte, 1<<20)
	copy(blob, "a blob begins")
	queue = make(chan *square, 64)
	for i := 0; i < 5; i++ {
		queue <- &square{}
	}
	bytes8 = make(chan int64, 100)
	kept := make([]*square, 128)
	kept[0] = &square{}
	fn = func() int { return len(kept) }
	for i := 0; i < 30; i++ {
		buffers = append(buffers, make([]byte, 5000))
	}
	literal.to = &held{}
	floats = make([]float64, 100000)
}

type deep struct {
	chain *node
	data  [100]int64
}

// waiter holds something on its stack alone.
func waiter(ready chan<- bool) {
	d := &deep{}
	for i := 0; i < 20; i++ {
		d.chain = &node{next: d.chain}
	}
	ready <- true
	<-make(chan bool)
	runtime.KeepAlive(d)
}

func main() {
	fill()
	ready := make(chan bool)
	go waiter(ready)
	<-ready
	runtime.GC()
	runtime.GC()
	debug.SetGCPercent(-1)
	if len(os.Args) > 1 {
		panic("done") // for a core file by GOTRACEBACK=crash
	}
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
