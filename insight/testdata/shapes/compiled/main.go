// Compiled makes the profiles of the cases cp07 and cp08, for which the rules
// also need what the compiler says:
//
//	go run -trimpath ./insight/testdata/shapes/compiled insight/testdata/shapes
//
// TestGrown with -words writes what the compiler says.
package main

import (
	"log"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"
)

var (
	total  int
	values = make([]int, 4096)
	places = make([]int, 4096)
)

func main() {
	for i := range places {
		places[i] = i * 7 % len(values)
	}
	record("cp07.cpu.pb.gz", func() { total += gather(values, places, len(places)) })
	record("cp07.clean.cpu.pb.gz", func() { total += sum(values) })
	record("cp08.cpu.pb.gz", func() { total += large(values) })
	record("cp08.clean.cpu.pb.gz", func() { total += small(values) })
}

//go:noinline
func gather(values, places []int, n int) (total int) {
	for i := 0; i < n; i++ {
		total += values[places[i]] // two checks
	}
	return total
}

//go:noinline
func sum(values []int) (total int) {
	for _, v := range values {
		total += v
	}
	return total
}

//go:noinline
func large(values []int) (total int) {
	for _, v := range values {
		total = mix(total, v) // not inlined
	}
	return total
}

// mix costs a little more than may be inlined.
func mix(h, v int) int {
	h ^= v
	h *= 16777619
	h ^= h >> 13
	h += v << 3
	h ^= h >> 7
	h *= 31
	h ^= v>>2 + h<<5
	h += v*3 ^ h>>11
	h -= v>>9 ^ h<<2
	if h < 0 {
		h = -h ^ v
	}
	h ^= h >> 15
	h += v >> 5
	h ^= h << 9
	h -= v << 6
	h += v << 4
	return h
}

//go:noinline
func small(values []int) (total int) {
	for _, v := range values {
		total = blend(total, v)
	}
	return total
}

// blend is small enough.
func blend(h, v int) int {
	h ^= v
	h *= 16777619
	return h ^ h>>13
}

func record(name string, run func()) {
	f, err := os.Create(filepath.Join(os.Args[1], name))
	if err != nil {
		log.Fatal(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		log.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < 4*time.Second; {
		for range 1000 {
			run()
		}
	}
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
