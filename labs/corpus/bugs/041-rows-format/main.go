package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"strconv"
)

var ops = []string{"PUSH1", "MSTORE", "CALLVALUE", "DUP1", "ISZERO", "JUMPI", "SLOAD"}

func trace(depth int) []step {
	steps := make([]step, depth)
	for i := range steps {
		steps[i] = step{pc: i * 2, op: ops[i%len(ops)], gas: uint64(9_000_000 - i*3), cost: 3}
	}
	return steps
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	recorded := trace(100_000)
	f := &formatter{buffered: *form == "fixed"}
	http.HandleFunc("/trace", func(w http.ResponseWriter, r *http.Request) {
		depth, err := strconv.Atoi(r.FormValue("depth"))
		if err != nil || depth < 0 || depth > len(recorded) {
			http.Error(w, "want a depth", http.StatusBadRequest)
			return
		}
		io.WriteString(w, f.format(recorded[:depth]))
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
