// Target has many goroutines that wait, and one that looks at the clock all the
// time: the longest it was kept from doing so is the pause that somebody else
// has made. It answers GET /pause with that, in ns, and begins anew.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

func wait(ch chan int, depth int) int {
	if depth > 0 {
		return wait(ch, depth-1) + 1
	}
	return <-ch
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ch := make(chan int)
	for i := 0; i < n; i++ {
		go wait(ch, 3+i%10)
	}
	var longest atomic.Int64
	go func() {
		for last := time.Now(); ; {
			now := time.Now()
			if d := int64(now.Sub(last)); d > longest.Load() {
				longest.Store(d)
			}
			last = now
		}
	}()
	http.HandleFunc("/pause", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, longest.Swap(0)) })
	go http.Serve(l, nil)
	time.Sleep(time.Second)
	fmt.Println(l.Addr())
	<-ch
}
