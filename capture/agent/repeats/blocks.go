package repeats

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
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
	next     uint64 // the time at which it is looked at again
	mu       sync.Mutex
	spent    int64 // ns that looking at it took
	looked   int64
	size     int64           // elements that it went through where it was looked at
	contents map[uint64]bool // hashes of what that was
	last     passed
	paired   int64 // looks at it the time after another look
	alike    int64 // of these, those at which it was much the same as then
}

// passed is what a loop went through the last time that it was looked at.
type passed struct {
	at     uint64 // when: how often it had begun
	place  uintptr
	n      int
	sketch []uint64 // the smallest hashes of its elements, at most mostSmallest
}

var loops [MaxLoops]loop

// Limits of looking at loops.
const (
	mostThings   = 512
	mostSmallest = 8
	mostSketch   = 256                          // elements of a list, from its start
	mostOnLoop   = 50 * int64(time.Millisecond) // of one
	mostOnLoops  = 600 * int64(time.Millisecond)
	oneInSo      = 64 // of the times that it has begun so far
	neverAgain   = 1 << 63
)

var spentOnLoops atomic.Int64

// Look tells that what a loop goes through is to be looked at: the first 64 times that it begins, and then twice in a row each time that it has begun
// a 64th part more often.
func Look(id uint32) bool {
	l := &loops[id]
	l.entered++
	return l.entered > l.next
}

// Over is told what a loop will go through, which given returns: an array would be copied otherwise before anybody knows how long that takes.
func Over(id uint32, given func() any) {
	l := &loops[id]
	if !counting || spentOnLoops.Load() > mostOnLoops {
		l.next = neverAgain
		return
	}
	t := now()
	defer func() {
		d := now() - t
		spentOnLoops.Add(d)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.spent += d; l.spent > mostOnLoop {
			l.next = neverAgain
		}
	}()
	at := passed{at: l.entered}
	if l.next = at.at; l.last.at+1 == at.at {
		l.next += at.at / oneInSo
	}
	over := given()
	v := reflect.ValueOf(over)
	place, n, ok := placeOf(v)
	if !ok {
		l.next = neverAgain // an array, or no list at all
		return
	}
	defer safely()()
	h := hasher{near: true, places: true}
	h.any(over)
	sum := h.sum()
	at.place, at.n = place, n
	if v.Kind() == reflect.Slice {
		at.sketch = sketchOf(v)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.looked > 0 && l.last.at+1 == at.at {
		if l.paired++; l.last.like(at, v.Kind()) {
			l.alike++
		}
	}
	l.looked, l.size, l.last = l.looked+1, l.size+int64(n), at
	if l.contents == nil {
		l.contents = map[uint64]bool{}
	}
	if len(l.contents) < mostThings {
		l.contents[sum] = true
	}
}

// like tells whether something is much the same as what was gone through before: a list most of whose elements were in that, or the same map, of about
// as many entries.
func (p passed) like(q passed, kind reflect.Kind) bool {
	switch kind {
	case reflect.Map:
		return p.place == q.place && 8*max(p.n, q.n) <= 9*min(p.n, q.n)
	case reflect.Slice:
		both := 0
		for _, x := range q.sketch {
			if slices.Contains(p.sketch, x) {
				both++
			}
		}
		return 2*both > max(len(p.sketch), len(q.sketch)) || p.n+q.n == 0
	}
	return p.place == q.place && p.n == q.n
}

// sketchOf are the smallest hashes of a list's elements: two lists have as large a part of these in common as of all that they have (A. Broder, On the
// resemblance and containment of documents, 1997).
func sketchOf(v reflect.Value) (s []uint64) {
	defer func() { recover() }() // what cannot be read
	h := hasher{near: true, places: true}
	for i := 0; i < v.Len() && i < mostSketch && !h.full(); i++ { // Go 1.21 ranges over no numbers
		h.h = 0
		h.value(v.Index(i), 0)
		x := h.sum()
		at, known := slices.BinarySearch(s, x)
		if known || at == mostSmallest {
			continue
		}
		if s = slices.Insert(s, at, x); len(s) > mostSmallest {
			s = s[:mostSmallest]
		}
	}
	return s
}

// placeOf is where something lies that a loop goes through, and how many elements it has; false for what is none of these.
func placeOf(v reflect.Value) (place uintptr, n int, ok bool) {
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
		entered := max(l.entered, uint64(l.looked)) // of which some are lost where goroutines begin it at once
		fmt.Fprintln(w, "l", i, entered, l.looked, l.size, len(l.contents), l.paired, l.alike)
		l.mu.Unlock()
	}
}
