package main

import (
	"flag"
	"log"
	"net/http"

	"loupe/labs/form"
	"loupe/labs/form/web"
)

// modes lists the forms: each answers with the same list of users.
var modes = map[string]http.HandlerFunc{
	"slow":  sendMaps,
	"fixed": sendPrepared,
}

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	addr := flag.String("addr", "localhost:4000", "`address` to serve on")
	mode := flag.String("mode", "slow", "how to make the answer: `one` of "+form.Names(modes))
	traceFile := flag.String("trace", "", "write an execution trace from start to end to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		handler, err := form.Choose(modes, *mode)
		if err != nil {
			return err
		}
		http.Handle("POST /sendjson", handler)
		return web.Serve(*addr, "/sendjson", http.DefaultServeMux)
	})
	if err != nil {
		log.Fatalln("sendjson:", err)
	}
}
