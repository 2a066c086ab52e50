package main

import (
	"errors"
	"flag"
	"fmt"
	"log"

	"loupe/labs/form"
)

// modes lists the forms: each sends numbers 0, 1, 2, … through links that add
// one, and returns the sum of what comes out.
var modes = map[string]func(links, numbers int) int{
	"chain":  oneByOne,
	"stream": allAtOnce,
	"loop":   loop,
}

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "chain", "how to add: `one` of "+form.Names(modes))
	links := flag.Int("links", 50000, "`number` of links in the chain")
	numbers := flag.Int("numbers", 40, "how `many` numbers to send through it")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		add, err := form.Choose(modes, *mode)
		if err != nil {
			return err
		}
		if *links < 0 || *numbers < 0 {
			return errors.New("-links and -numbers cannot be negative")
		}
		fmt.Printf("%d numbers through %d links: the sum is %d\n", *numbers, *links, add(*links, *numbers))
		return nil
	})
	if err != nil {
		log.Fatalln("daisy:", err)
	}
}
