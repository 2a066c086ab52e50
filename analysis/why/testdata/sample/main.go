// Command sample allocates in every way that Go has, one to a line. The
// comment behind a line is what package why must answer: the certainty and the
// mechanism, "|" between two answers for objects of two kinds.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

type point struct{ x, y, z int }

func (p *point) sum() int { return p.x + p.y + p.z }

type list []int

var (
	sinkPoint   *point
	sinkAny     any
	sinkBytes   []byte
	sinkString  string
	sinkInts    []int
	sinkFunc    func() int
	sinkMap     map[string]int
	sinkChan    chan int
	sinkErr     error
	sinkRunes   []rune
	sinkStrings []string
	words       = strings.Fields(strings.Repeat("alpha beta gamma delta ", 20))
	long        = strings.Repeat("long text ", 20)
	longBytes   = []byte(long)
)

func newPoint() *point { return &point{1, 2, 3} } // exact object

//go:noinline
func object() { sinkPoint = newPoint() }

//go:noinline
func literal() { sinkPoint = &point{1, 2, 3} } // exact object

//go:noinline
func newed() { sinkPoint = new(point) } // exact object

//go:noinline
func variable() {
	p := point{1, 2, 3} // exact variable
	sinkPoint = &p
}

//go:noinline
func parameter(p point) { // exact variable
	sinkPoint = &p
}

//go:noinline
func made(n int) { sinkBytes = make([]byte, n) } // exact slice

//go:noinline
func stays(n int) int {
	b := make([]byte, n) // runtime slice
	return len(b) + int(b[n/2])
}

type pair struct{ a, b []byte }

var sinkPair *pair

//go:noinline
func twoMade(n int) {
	sinkPair = &pair{
		b: make([]byte, n), a: make([]byte, 4*n), // exact slice|exact slice
	}
	a, b := make([]byte, 2*n), make([]byte, n) // exact slice|exact slice
	sinkPair.a, sinkPair.b = a, b
}

//go:noinline
func array() { sinkInts = []int{1, 2, 3, 4} } // exact object

//go:noinline
func named() { sinkInts = list{1, 2, 3, 4} } // exact object

//go:noinline
func grows(n int) {
	var s []int
	for i := range n {
		s = append(s, i) // exact append
	}
	sinkInts = s
}

//go:noinline
func extends(s []int, n int) { sinkInts = append(s, make([]int, n)...) } // exact append

//go:noinline
func nested(s []int) { sinkInts = append(append(s, s...), s...) } // exact append

//go:noinline
func mixed(s []*point) {
	for range 20 {
		s = append(s, &point{}) // runtime append|exact object
	}
	sinkAny = len(s)
	sinkPoint = s[3]
}

//go:noinline
func concat(s string) { sinkString = s + long } // exact concatenation

//go:noinline
func adds(i, j int) { sinkString += fmt.Sprintf("%d", i+j) } // exact interface|runtime concatenation

//go:noinline
func concatStays(s string) bool {
	t := s + long // runtime concatenation
	return t == sinkString
}

//go:noinline
func toString(b []byte) { sinkString = string(b) } // exact conversion

//go:noinline
func toBytes(s string) { sinkBytes = []byte(s) } // exact conversion

//go:noinline
func toRunes(s string) { sinkRunes = []rune(s) } // exact conversion

//go:noinline
func bytesStay(s string) int {
	b := []byte(s) // runtime conversion
	b[0]++
	return int(b[len(b)/2])
}

//go:noinline
func boxInt(n int) { sinkAny = n } // exact interface

//go:noinline
func boxString(s string) { sinkAny = s } // exact interface

//go:noinline
func boxStruct(p point) { sinkAny = p } // exact interface

//go:noinline
func boxConverted(b []byte) { sinkAny = string(b) } // exact conversion|exact interface

//go:noinline
func variadic(p *point) { variadicTo(p, p, p) } // exact variadic

//go:noinline
func variadicTo(list ...*point) { sinkAny = list } // exact interface

//go:noinline
func closure(n int) {
	sinkFunc = func() int { return n } // exact closure
}

//go:noinline
func captured() {
	n := 0                                  // exact variable
	sinkFunc = func() int { n++; return n } // exact closure
}

//go:noinline
func methodValue(p *point) { sinkFunc = p.sum } // exact closure

//go:noinline
func mapMade() { sinkMap = make(map[string]int) } // exact map

//go:noinline
func mapHint(n int) { sinkMap = make(map[string]int, n) } // exact map

//go:noinline
func mapLiteral() { sinkMap = map[string]int{"a": 1, "b": 2} } // exact map|exact map or map write

//go:noinline
func mapGrows() int {
	m := map[int]int{}
	for i := range 100 {
		m[i] = i // runtime map write
	}
	return len(m)
}

//go:noinline
func channel() { sinkChan = make(chan int, 8) } // runtime channel

//go:noinline
func failed() { sinkErr = errors.New("failed") }

//go:noinline
func formatted(n int) { sinkErr = fmt.Errorf("number %d", n+1000) } // exact interface

func pointer[T any](v T) *T { return &v }

//go:noinline
func generic(n int) { sinkAny = pointer(n) } // exact variable

//go:noinline
func builder() {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w)
	}
	sinkString = b.String()
}

//go:noinline
func cloned() { sinkStrings = slices.Clone(words) }

//go:noinline
func multiline() {
	sinkAny = []any{
		newPoint(),
		longBytes, // exact interface
	}
}

//go:noinline
func huge() int {
	var buf [12 << 20]byte // exact variable
	buf[len(words)] = 1
	return int(buf[len(long)])
}

func main() {
	runtime.MemProfileRate = 1
	small := make([]int, 4)
	for i := range 50 {
		object()
		literal()
		newed()
		variable()
		parameter(point{1, 2, i})
		made(100 + i)
		stays(100 + i)
		twoMade(1024)
		array()
		named()
		grows(100)
		extends(small, 100)
		nested(small)
		mixed(nil)
		concat(long)
		concatStays(long)
		adds(i+1000, i)
		toString(longBytes)
		toBytes(long)
		toRunes(long)
		bytesStay(long)
		boxInt(i + 1000)
		boxString(long)
		boxStruct(point{1, 2, i})
		boxConverted(longBytes)
		variadic(sinkPoint)
		closure(i)
		captured()
		methodValue(sinkPoint)
		mapMade()
		mapHint(100)
		mapLiteral()
		mapGrows()
		channel()
		failed()
		formatted(i)
		generic(i)
		builder()
		cloned()
		multiline()
	}
	huge()
	time.Sleep(time.Millisecond)
	runtime.GC()
	runtime.GC()
	f, err := os.Create(os.Args[1])
	if err == nil {
		err = pprof.Lookup("allocs").WriteTo(f, 0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
