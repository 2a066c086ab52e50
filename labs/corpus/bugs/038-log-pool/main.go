package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"strings"
	"sync/atomic"
)

type logger struct {
	pool *pool
	out  io.Writer
}

func (l *logger) info(msg string, fields ...string) int {
	b := l.pool.get()
	b.appendString("msg", msg)
	for i := 0; i+1 < len(fields); i += 2 {
		b.appendString(fields[i], fields[i+1])
	}
	n, _ := l.out.Write(b.bs)
	l.pool.put(b)
	return n
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	limit := 0
	if *form == "fixed" {
		limit = 64 << 10
	}
	l := &logger{pool: newPool(limit), out: io.Discard}
	dump := strings.Repeat("goroutine 1 [running]: main.main() ", 60_000)
	hold := make(chan struct{}, 1)
	var n atomic.Int64
	http.HandleFunc("/log", func(w http.ResponseWriter, r *http.Request) {
		l.info("request", "from", r.RemoteAddr, "path", r.URL.Path)
		if n.Add(1)%400 == 0 {
			hold <- struct{}{}
			l.info("panic", "stack", dump)
			<-hold
		}
		io.WriteString(w, "ok\n")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
