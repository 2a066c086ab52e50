package main

import (
	"fmt"
	"net/http"
	_ "net/http/pprof" // be01 serves its profiles itself: a binary is recorded as it stands
	"os"
)

// be01 computes until it is ended, and serves its profiles. It is built with -trimpath and
// recorded where its sources are not; the other form as users have it.
func be01() {
	go func() {
		if err := http.ListenAndServe(addr, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}()
	for {
		counted += int(count(10_000_000))
		sink = make([]byte, 1<<20)
	}
}

// be02 is the same: another build takes its place while it is recorded.
func be02() { be01() }
