// Package web is what the labs that are web services share: they serve until
// they are told to stop, and finish what they have begun.
package web

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof" // /debug/pprof on the default mux
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Serve answers requests until the program is told to stop, and then finishes
// those that it has begun. The path is what the log names first.
func Serve(addr, path string, handler http.Handler) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log.Printf("listening on http://%s%s", listener.Addr(), path)
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
