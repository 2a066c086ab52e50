// Server allocates, waits on a lock and answers on the port it is given.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

var (
	mu   sync.Mutex
	sink []byte
)

func churn() {
	for {
		mu.Lock()
		sink = make([]byte, 64<<10)
		mu.Unlock()
		time.Sleep(50 * time.Microsecond)
	}
}

func main() {
	fmt.Fprintln(os.Stderr, "server says hello")
	go churn()
	go churn()
	if len(os.Args) > 1 {
		http.ListenAndServe(os.Args[1], nil)
	}
	select {}
}
