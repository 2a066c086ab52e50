// Command churn makes garbage while threads write to standard error as fast
// as they can. It is built from source by TestAssembleLive.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

var sink [64][]byte

func main() {
	d, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; i < 4 || time.Now().Before(end); i++ {
				// One write each; the last word lets the test check order.
				switch i % 4 {
				case 0, 1:
					os.Stderr.WriteString("w" + strconv.Itoa(w) + " 2025/01/01 12:00:00 some log line of the program #" + strconv.Itoa(i) + "\n")
				case 2:
					os.Stderr.WriteString("w" + strconv.Itoa(w) + " no newline #" + strconv.Itoa(i) + "#")
				case 3:
					fmt.Fprintf(os.Stderr, "w%d two\nlines #%d\n", w, i)
				}
			}
		})
	}
	for i := 0; time.Now().Before(end); i++ {
		sink[i%len(sink)] = make([]byte, 32<<10)
	}
	wg.Wait()
}
