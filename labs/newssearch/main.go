package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof" // /debug/pprof on the default mux
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"loupe/labs/newssearch/feeds"
	"loupe/labs/newssearch/search"
	"loupe/labs/newssearch/service"
)

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	addr := flag.String("addr", "localhost:5000", "address to serve on")
	fixed := flag.Bool("fixed", false, "lower-case each description once, when it is cached")
	sources := flag.String("feeds", "", "feeds to search, as cnn=URL,bbc=URL,nyt=URL; empty serves three of its own")
	flag.Parse()
	if err := run(*addr, *sources, *fixed); err != nil {
		log.Fatalln("newssearch:", err)
	}
}

func run(addr, sources string, fixed bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	urls, err := parseFeeds(sources)
	if err != nil {
		return err
	}
	if len(urls) == 0 {
		local, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go http.Serve(local, feeds.Handler())
		for _, name := range feeds.Names {
			urls[name] = fmt.Sprintf("http://%s/%s.xml", local.Addr(), name)
		}
	}

	mux := http.DefaultServeMux
	service.Register(mux, search.New(urls, fixed))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log.Printf("listening on http://%s/search (fixed: %v)", listener.Addr(), fixed)

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

// parseFeeds reads "cnn=URL,bbc=URL".
func parseFeeds(text string) (map[string]string, error) {
	urls := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		if pair == "" {
			continue
		}
		name, url, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("cannot read -feeds: %q is not NAME=URL", pair)
		}
		urls[name] = url
	}
	return urls, nil
}
