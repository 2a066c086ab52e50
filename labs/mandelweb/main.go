package main

import (
	"flag"
	"fmt"
	"image/png"
	"log"
	"net/http"

	"loupe/labs/form"
	"loupe/labs/form/web"
	"loupe/labs/mandelbrot/fractal"
)

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	addr := flag.String("addr", "localhost:8080", "`address` to serve on")
	mode := flag.String("mode", "seq", "how to spread the work of a picture: `one` of "+form.Names(fractal.Modes))
	workers := flag.Int("workers", 1, "`number` of workers for a picture, in the modes that have some")
	side := flag.Int("side", 512, "`pixels` of a picture's sides")
	traceFile := flag.String("trace", "", "write an execution trace from start to end to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		fill, err := form.Choose(fractal.Modes, *mode)
		if err != nil {
			return err
		}
		if *workers < 1 || *side < 1 {
			return fmt.Errorf("-workers %d, -side %d: want at least 1 of each", *workers, *side)
		}
		http.Handle("GET /mandelbrot", painter{fill, *workers, *side})
		return web.Serve(*addr, "/mandelbrot", http.DefaultServeMux)
	})
	if err != nil {
		log.Fatalln("mandelweb:", err)
	}
}

// painter answers every request with a picture that it paints for it.
type painter struct {
	fill    fractal.Mode
	workers int
	side    int
}

// ServeHTTP paints to the end even when the client has gone: that is part of
// what goes wrong under overload.
func (p painter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	picture := fractal.New(p.side, p.side)
	p.fill(picture, p.workers)
	w.Header().Set("Content-Type", "image/png")
	if err := png.Encode(w, picture); err != nil {
		log.Println("cannot send the picture:", err)
	}
}
