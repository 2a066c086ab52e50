package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
)

func output() string {
	var b strings.Builder
	for i := range 700 {
		fmt.Fprintf(&b, "[%d] compiling package %x with flags -O%d\n", i, i*7919, i%3)
	}
	return b.String()
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	w := newLogWriter(*form == "fixed")
	text := output()
	http.HandleFunc("/output", func(rw http.ResponseWriter, r *http.Request) {
		n := w.write(text)
		fmt.Fprintln(rw, "job", r.FormValue("job"), "part", n)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
