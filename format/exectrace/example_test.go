package exectrace_test

import (
	"fmt"
	"log"
	"strings"

	"loupe/format/exectrace"
)

// A goroutine waits for another one, and gets what it waits for.
func Example() {
	data, err := exectrace.ParseText(strings.NewReader(`
Trace Go1.26
EventBatch m=1 time=1000
ProcStatus dt=1 p=0 pstatus=running
GoStatus dt=1 g=1 m=1 gstatus=running
GoCreate dt=10 new_g=7 new_stack=main.worker stack=main.main
GoBlock dt=20 reason_string="chan receive" stack=runtime.chanrecv1;main.main
GoStart dt=5 g=7 g_seq=1
GoUnblock dt=300 g=1 g_seq=1 stack=runtime.chansend1;main.worker
`))
	if err != nil {
		log.Fatal(err)
	}
	t, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	r := t.Reader()
	for r.Next() {
		e := r.Event()
		if e.Kind == exectrace.KindGoTransition {
			fmt.Printf("%d: goroutine %d %v -> %v %q\n", e.Time, e.Goroutine(), e.From, e.To, r.Name(e.Name))
		}
	}
	for _, p := range r.Problems() {
		fmt.Println(p)
	}
	// Output:
	// 1002: goroutine 1 Undetermined -> Running ""
	// 1012: goroutine 7 NotExist -> Runnable ""
	// 1032: goroutine 1 Running -> Waiting "chan receive"
	// 1037: goroutine 7 Runnable -> Running ""
	// 1337: goroutine 1 Waiting -> Runnable ""
}
