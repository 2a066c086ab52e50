package tiles_test

import (
	"bytes"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"testing"
	"time"

	"loupe/analysis/tiles"
	"loupe/format/exectrace"
)

// record returns a trace of this process, which does a bit of everything:
// lanes with a pyramid and without one, collections with assists, waits of
// all kinds, and goroutines by the thousand.
var record = sync.OnceValue(func() []byte {
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	a, b := make(chan int), make(chan int)
	wg.Go(func() {
		for range 20000 {
			b <- <-a
		}
	})
	wg.Go(func() {
		for i := range 20000 {
			a <- i
			<-b
		}
	})
	var mu sync.Mutex
	for range 4 {
		wg.Go(func() {
			for range 200 {
				mu.Lock()
				time.Sleep(20 * time.Microsecond)
				mu.Unlock()
			}
		})
	}
	wg.Go(allocate)
	wg.Go(func() {
		for range 3000 {
			var inner sync.WaitGroup
			inner.Go(runtime.Gosched)
			inner.Wait()
			os.Getwd()
			os.Stat(".")
		}
	})
	wg.Wait()
	trace.Stop()
	return buf.Bytes()
})

// allocate makes garbage with pointers in it, so that the collector runs and
// wants help.
func allocate() {
	var keep [1000]*[64]*int
	for i := range 200000 {
		keep[i%len(keep)] = new([64]*int)
	}
	runtime.GC()
}

func open(t testing.TB, data []byte) *exectrace.Trace {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// build makes a set, and returns how many events it is of.
func build(tr *exectrace.Trace, opts tiles.Options) (*tiles.Set, int) {
	r := tr.Reader()
	b := tiles.NewBuilder(r, opts)
	n := 0
	for r.Next() {
		b.Event(r.Event())
		n++
	}
	return b.Finish(), n
}
