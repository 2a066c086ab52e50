// Cgo makes the profiles of the case cp15: many small calls to C, and a few
// that do all the work.
//
//	go run -trimpath ./insight/testdata/shapes/cgo insight/testdata/shapes
package main

/*
static int add(int a, int b) { return a + b; }
static int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ (s >> 3); return s; }
*/
import "C"

import (
	"log"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"
)

var total int

func main() {
	record("cp15.cpu.pb.gz", func() {
		for i := range 100_000 {
			total += int(C.add(C.int(i), 1))
		}
	})
	record("cp15.clean.cpu.pb.gz", func() {
		total += int(C.sum(1000))
		for i := range 100_000 {
			total += i ^ total>>3
		}
	})
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
		run()
	}
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
