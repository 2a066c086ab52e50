// Command frames prints what the runtime itself says about addresses. Go 1.18
// and later compile it; from Go 1.23 on with -ldflags=-checklinkname=0.
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	_ "unsafe"
)

// expand adds the calls that are inlined at the last address of a stack. The
// runtime has it for CPU profiles.
//
//go:linkname expand runtime/pprof.runtime_expandFinalInlineFrame
func expand(stack []uintptr) []uintptr

func main() { frames(os.Args[1], os.Args[2]) }

// frames prints the calls at every step-th address between the first and the
// last function of the runtime's table; n bounds their number. Addresses are
// printed as the distance in front of this function.
func frames(step, n string) {
	by, _ := strconv.Atoi(step)
	count, _ := strconv.Atoi(n)
	self := reflect.ValueOf(frames).Pointer()
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	pc := self
	for ; count > 0 && runtime.FuncForPC(pc) != nil; pc -= uintptr(by) {
		count--
		// CallersFrames takes return addresses.
		f := runtime.CallersFrames(expand([]uintptr{pc + 1}))
		fmt.Fprintf(w, "%d", int64(self)-int64(pc))
		for {
			frame, more := f.Next()
			fmt.Fprintf(w, "\t%s\t%s\t%d", frame.Function, frame.File, frame.Line)
			if !more {
				break
			}
		}
		fmt.Fprintln(w)
	}
}
