package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof" // /debug/pprof on the default mux
	"os"
	"os/signal"
	"syscall"
	"time"

	"loupe/labs/form"
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
		return serve(*addr, http.DefaultServeMux)
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

// serve answers requests until the program is told to stop, and then finishes
// those that it has begun.
func serve(addr string, handler http.Handler) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log.Printf("listening on http://%s/mandelbrot", listener.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	log.Println("stopping")
	grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
