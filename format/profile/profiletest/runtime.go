package profiletest

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Runtime takes every profile that the runtime can take of this process while
// it does some work: cpu, heap, allocs, goroutine, block, mutex, threadcreate.
// It takes about a fifth of a second, and only one may run at a time.
func Runtime() (map[string][]byte, error) {
	runtime.SetBlockProfileRate(1)
	defer runtime.SetBlockProfileRate(0)
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 4 {
		labels := pprof.Labels("worker", strconv.Itoa(i), "kind", "test")
		wg.Go(func() {
			pprof.Do(context.Background(), labels, func(context.Context) {
				for until := time.Now().Add(200 * time.Millisecond); time.Now().Before(until); {
					mu.Lock()
					work(5)
					mu.Unlock()
				}
			})
		})
	}
	wg.Wait()
	pprof.StopCPUProfile()
	all := map[string][]byte{"cpu": cpu.Bytes()}
	for _, name := range []string{"heap", "allocs", "goroutine", "block", "mutex", "threadcreate"} {
		var buf bytes.Buffer
		if err := pprof.Lookup(name).WriteTo(&buf, 0); err != nil {
			return nil, err
		}
		all[name] = buf.Bytes()
	}
	return all, nil
}

// kept makes work visible in the heap profile.
var kept []string

// work allocates, recurses and calls what the compiler inlines.
func work(depth int) {
	if depth > 0 {
		work(depth - 1)
	}
	for i := range 100 {
		kept = append(kept[:i:i], strings.ToLower(fmt.Sprintf("HELLO %d", i)))
	}
	sort.Strings(kept)
}
