package godebug_test

import (
	"fmt"
	"strings"

	"loupe/format/godebug"
)

const log = `listening on :8080
gc 1 @0.019s 2%: 0.54+33+0.19 ms clock, 1.0+1.2/1.1/0.55+0.39 ms cpu, 3->7->6 MB, 4 MB goal, 0 MB stacks, 1 MB globals, 2 P
no newline; gc 2 @0.080s 16%: 0.10+106+0.053 ms clock, 0.21+1.3/58/25+0.10 ms cpu, 12->24->23 MB, 15 MB goal, 0 MB stacks, 1 MB globals, 2 P
gc 3 @0.249s 19%: 13+105+2025/01/01 12:00:00 a log line of another thread
SCHED 103ms: gomaxprocs=2 idleprocs=0 threads=5 spinningthreads=0 needspinning=0 idlethreads=2 runqueue=1 [ 0 0 ] schedticks=[ 17 67 ]
`

func ExampleReader() {
	r := godebug.NewReader(strings.NewReader(log))
	for r.Next() {
		switch rec := r.Record().(type) {
		case *godebug.Cycle:
			fmt.Printf("collection %d at %v: pauses %v, %d MB live\n", rec.N, rec.At, rec.Pause(), rec.HeapLive>>20)
		case *godebug.SchedSample:
			fmt.Printf("%v: %d goroutines wait\n", rec.At, rec.RunQueue)
		case *godebug.Malformed:
			fmt.Printf("line %d is not whole\n", rec.Line)
		}
	}
	// Output:
	// collection 1 at 19ms: pauses 730µs, 6 MB live
	// collection 2 at 80ms: pauses 153µs, 23 MB live
	// line 4 is not whole
	// 103ms: 1 goroutines wait
}

func ExampleParse() {
	l := godebug.Parse([]byte(log))
	fmt.Println(len(l.Cycles), "collections,", len(l.Samples), "sample,", l.Stats.Malformed, "unrecognised")
	// Output: 2 collections, 1 sample, 1 unrecognised
}
