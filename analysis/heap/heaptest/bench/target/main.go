// Command target fills a heap of about as many megabytes as it is told with what
// programs keep: a map of records by text, an index by number, lists, trees,
// slices of slices and large buffers. Then it says "ready" and waits.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

type record struct {
	id      int64
	name    string
	tags    []string
	parent  *record
	weights [4]float64
}

type item struct {
	next  *item
	value int64
	owner *record
}

type tree struct {
	left, right *tree
	key         uint64
}

var (
	byName  = map[string]*record{}
	byID    = map[int64]*record{}
	list    *item
	root    *tree
	rows    [][]int64
	buffers [][]byte
	events  []any
)

func insert(t **tree, key uint64) {
	for *t != nil {
		if key < (*t).key {
			t = &(*t).left
		} else {
			t = &(*t).right
		}
	}
	*t = &tree{key: key}
}

func main() {
	mb := 900
	if len(os.Args) > 1 {
		mb, _ = strconv.Atoi(os.Args[1])
	}
	n := mb * 2400
	var last *record
	for i := 0; i < n; i++ {
		r := &record{id: int64(i), name: "the record of number " + strconv.Itoa(i), parent: last}
		r.tags = []string{"tag " + strconv.Itoa(i%100), "a longer tag for the record"}
		if i%10 == 0 {
			last = r
		}
		byName[r.name] = r
		byID[r.id] = r
		list = &item{list, int64(i), r}
	}
	key := uint64(1)
	for i := 0; i < n/2; i++ {
		key = key*6364136223846793005 + 1442695040888963407
		insert(&root, key)
	}
	for i := 0; i < n/4; i++ {
		rows = append(rows, make([]int64, 8+i%60))
		events = append(events, item{value: int64(i)})
	}
	for i := 0; i < mb/2; i++ {
		b := make([]byte, 256<<10)
		for j := range b {
			b[j] = byte(j)
		}
		buffers = append(buffers, b)
	}
	runtime.GC()
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
