package main

import (
	"flag"
	"log"

	"loupe/labs/form"
)

// modes lists the forms.
var modes = map[string]func(addr string) error{
	"words": func(string) error {
		example(make([]string, 2, 4), "hello", 10)
		return nil
	},
	"packed": func(string) error {
		packed(true, false, true, 25)
		return nil
	},
	"server": serve,
	"bodies": serveBodies,
}

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "words", "how to fail: `one` of "+form.Names(modes))
	addr := flag.String("addr", "localhost:4000", "`address` to serve on")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		run, err := form.Choose(modes, *mode)
		if err != nil {
			return err
		}
		return run(*addr)
	})
	if err != nil {
		log.Fatalln("stacktrace:", err)
	}
}
