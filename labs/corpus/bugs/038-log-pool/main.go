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
	pool  *pool
	queue chan *buffer
	out   io.Writer
}

func (l *logger) info(msg string, fields ...string) {
	b := l.pool.get()
	b.appendString("msg", msg)
	for i := 0; i+1 < len(fields); i += 2 {
		b.appendString(fields[i], fields[i+1])
	}
	l.queue <- b
}

func (l *logger) drain() {
	batch := make([]*buffer, 0, 48)
	for b := range l.queue {
		if batch = append(batch, b); len(batch) < cap(batch) {
			continue
		}
		for _, b := range batch {
			l.out.Write(b.bs)
			l.pool.put(b)
		}
		batch = batch[:0]
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	limit := 0
	if *form == "fixed" {
		limit = 64 << 10
	}
	l := &logger{pool: newPool(limit), queue: make(chan *buffer, 16), out: io.Discard}
	go l.drain()
	dump := strings.Repeat("goroutine 1 [running]: main.main() ", 60_000)
	var n atomic.Int64
	http.HandleFunc("/log", func(w http.ResponseWriter, r *http.Request) {
		l.info("request", "from", r.RemoteAddr, "path", r.URL.Path)
		if n.Add(1)%101 == 0 {
			l.info("panic", "stack", dump)
		}
		io.WriteString(w, "ok\n")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
