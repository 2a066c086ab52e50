package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"

	"loupe/labs/form"
)

// modes lists the forms: what the client does with a body before it closes it.
var modes = map[string]func(body io.Reader) error{
	"fresh":  peek,
	"reused": readAll,
}

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "fresh", "what to do with a body: `one` of "+form.Names(modes))
	n := flag.Int("n", 4000, "`number` of requests")
	serve := flag.String("serve", "", "only serve the page at this `address`, host:port")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	if *serve != "" {
		l, err := net.Listen("tcp", *serve)
		if err != nil {
			log.Fatalln("httptrace:", err)
		}
		fmt.Printf("https://%s/page\n", l.Addr())
		log.Fatalln("httptrace:", newService().serve(l))
	}
	err := form.Traced(*traceFile, func() error {
		read, err := form.Choose(modes, *mode)
		if err != nil {
			return err
		}
		if *n < 1 {
			return errors.New("-n must be at least 1")
		}
		phases, err := visit(*n, read)
		if err != nil {
			return err
		}
		fmt.Print(phases)
		return nil
	})
	if err != nil {
		log.Fatalln("httptrace:", err)
	}
}
