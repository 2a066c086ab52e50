// Body asks a service and looks at the status alone.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "in stock")
	}))
	asked := 0
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for ; float64(asked) < 20*time.Since(began).Seconds(); asked++ {
			if err := check("http://" + l.Addr().String()); err != nil {
				log.Fatal(err)
			}
		}
	}
}

func check(url string) error {
	resp, err := http.Get(url) // LEAK
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", resp.Status)
	}
	return nil
}
