// Heap allocates in many ways, for the tests to look at from outside. It prints its
// address, and serves its heap profile as Go itself tells it.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
)

var kept [][]byte

func small() []byte { return make([]byte, 48) } // inlined

func grow(n int) []byte { return append(small(), make([]byte, n)...) }

func deep(n, depth int) {
	if depth > 0 {
		deep(n, depth-1)
		return
	}
	kept = append(kept, grow(n))
}

type pair[K comparable, V any] struct {
	m map[K]V
}

func (p *pair[K, V]) fill(n int, key func(int) K) {
	for i := 0; i < n; i++ {
		var v V
		p.m[key(i)] = v
	}
}

func strs(n int) (s []string) {
	for i := 0; i < n; i++ {
		s = append(s, strings.Repeat("x", i))
	}
	return s
}

var (
	names  []string
	number = pair[int, [4]int]{map[int][4]int{}}
	text   = pair[string, *int]{map[string]*int{}}
)

func main() {
	if rate, err := strconv.Atoi(os.Args[1]); err == nil {
		runtime.MemProfileRate = rate
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i := 0; i < 40; i++ {
		deep(i*1000, i)
		deep(1<<i%21, 1)
		kept[i] = nil
	}
	names = strs(2000)
	number.fill(3000, func(i int) int { return i })
	text.fill(3000, strconv.Itoa)
	func() {
		for i := 0; i < 100; i++ {
			kept = append(kept, func() []byte { return make([]byte, 8000) }())
		}
	}()
	http.HandleFunc("/heap", func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < 3 && r.FormValue("gc") != ""; i++ {
			runtime.GC()
		}
		pprof.Lookup("heap").WriteTo(w, 0)
	})
	go http.Serve(l, nil)
	fmt.Println(l.Addr())
	select {}
}
