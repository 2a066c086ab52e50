package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"loupe/labs/form"
)

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "held", "what to do under the locks: `one` of "+form.Names(modes))
	rounds := flag.Int("rounds", 25, "`number` of rounds, each with other pages")
	times := flag.Int("times", 12, "`number` of times that each page is read in a round, by each reader")
	slow := flag.Duration("slow", 8*time.Millisecond, "`time` that a page takes to come")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		if _, err := form.Choose(modes, *mode); err != nil {
			return err
		}
		if *rounds < 0 || *times < 1 {
			return errors.New("-rounds cannot be negative, and -times is at least 1")
		}
		address, stop, err := servePages(*slow)
		if err != nil {
			return err
		}
		defer stop()
		words, err := work{address, *rounds, 8, *times}.count(*mode)
		if err != nil {
			return err
		}
		all := 0
		for _, n := range words {
			all += n
		}
		fmt.Printf("%d words, %d of them different\n", all, len(words))
		return nil
	})
	if err != nil {
		log.Fatalln("mutex:", err)
	}
}

// servePages serves pages on a port of its own, each after some time.
func servePages(slow time.Duration) (address string, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(slow)
		fmt.Fprint(w, page(r.URL.Path))
	})}
	go server.Serve(l)
	return "http://" + l.Addr().String(), server.Close, nil
}

// page is the text at a path; always the same.
func page(path string) string {
	seed := uint64(0)
	for _, b := range []byte(path) {
		seed = seed*31 + uint64(b)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	var text strings.Builder
	for range 400 {
		fmt.Fprintf(&text, "word%d ", random.IntN(12)*random.IntN(12))
	}
	return text.String()
}
