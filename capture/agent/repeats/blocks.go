package repeats

import (
	"fmt"
	"io"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// How often each block of the program's source is entered is counted in its place, as go build -cover does: a loop's body, a branch, the body of a
// function. Goroutines may lose counts of each other, as nothing keeps them apart.

// Limits of what can be counted of a program.
const (
	MaxBlocks = 1 << 16
	MaxLoops  = 1 << 13
)

// Blocks are how often each block was entered.
var Blocks [MaxBlocks]uint64

// blocksInLine is how many a line of the file has.
const blocksInLine = 64

func writeBlocks(w io.Writer) {
	for i := 0; i < MaxBlocks; i += blocksInLine {
		line := Blocks[i : i+blocksInLine]
		if allZero(line) {
			continue
		}
		fmt.Fprint(w, "b ", i)
		for _, n := range line {
			fmt.Fprint(w, " ", n)
		}
		fmt.Fprintln(w)
	}
}

func allZero(list []uint64) bool {
	for _, n := range list {
		if n > 0 {
			return false
		}
	}
	return true
}

// loop is what is known of a loop: whether it goes through the same again.
type loop struct {
	entered  uint64
	mu       sync.Mutex
	looked   int64
	size     int64              // elements that it went through where it was looked at
	places   map[uintptr]uint64 // where that lies, with a hash of what it was
	contents map[uint64]bool    // such hashes
	changed  int64              // it lies where something else was the time before
}

var loops [MaxLoops]loop

// Limits of looking at loops: mostThings are kept of one, and all of it takes so many ns.
const (
	mostThings     = 512
	mostOfAllLoops = 1_500_000_000
)

var spentOnLoops atomic.Int64

// Look tells that what a loop goes through is to be looked at: the first 64 times that it begins, and then one time in 64.
func Look(id uint32) bool {
	l := &loops[id]
	l.entered++
	return l.entered <= 64 || l.entered&63 == 0
}

// Over is told what a loop will go through.
func Over(id uint32, over any) {
	if !counting || spentOnLoops.Load() > mostOfAllLoops {
		return
	}
	t := now()
	defer func() { spentOnLoops.Add(now() - t) }()
	place, n, ok := placeOf(over)
	if !ok {
		return
	}
	defer safely()()
	h := hasher{near: true, places: true}
	h.any(over)
	sum, l := h.sum(), &loops[id]
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looked, l.size = l.looked+1, l.size+int64(n)
	if l.places == nil {
		l.places, l.contents = map[uintptr]uint64{}, map[uint64]bool{}
	}
	was, known := l.places[place]
	if known && was != sum {
		l.changed++
	}
	if known || len(l.places) < mostThings {
		l.places[place] = sum
	}
	if len(l.contents) < mostThings {
		l.contents[sum] = true
	}
}

// placeOf is where something lies that a loop goes through, and how many elements it has; false for what is none of these.
func placeOf(x any) (place uintptr, n int, ok bool) {
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return uintptr(v.UnsafePointer()), v.Len(), true
	case reflect.String:
		s := v.String()
		return uintptr(unsafe.Pointer(unsafe.StringData(s))), len(s), true
	}
	return 0, 0, false
}

func writeLoops(w io.Writer) {
	for i := range loops {
		l := &loops[i]
		if l.entered == 0 {
			continue
		}
		l.mu.Lock()
		fmt.Fprintln(w, "l", i, l.entered, l.looked, l.size, len(l.places), len(l.contents), l.changed)
		l.mu.Unlock()
	}
}
