package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"loupe/labs/form"
)

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "one", "how to ask: `one` of "+form.Names(modes))
	orders := flag.Int("orders", 2000, "`number` of orders to look up")
	query := flag.Duration("query", time.Millisecond, "`time` that a query takes")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		if _, err := form.Choose(modes, *mode); err != nil {
			return err
		}
		if *orders < 0 {
			return errors.New("-orders cannot be negative")
		}
		sum, err := ask(&database{*query}, *mode, *orders)
		if err == nil {
			fmt.Printf("%d orders cost %d.%02d\n", *orders, sum/100, sum%100)
		}
		return err
	})
	if err != nil {
		log.Fatalln("blocking:", err)
	}
}
