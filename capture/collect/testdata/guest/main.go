// Guest says what it sees of the agent, takes a trace of itself, and comes to a
// deadlock.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
)

func main() {
	fmt.Println(runtime.NumGoroutine(), os.Getenv("GODEBUG"), os.Getenv("LOUPE_AGENT"), os.Getenv("LOUPE_AGENT_OWN"))
	if err := trace.Start(io.Discard); err != nil {
		fmt.Println(err)
	}
	trace.Stop()
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		fmt.Println(err)
	}
	pprof.StopCPUProfile()
	select {}
}
