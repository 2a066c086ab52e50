package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"

	"loupe/labs/form/web"
	"loupe/labs/newssearch/feeds"
	"loupe/labs/newssearch/search"
	"loupe/labs/newssearch/service"
)

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	addr := flag.String("addr", "localhost:5000", "address to serve on")
	fixed := flag.Bool("fixed", false, "lower-case each description once, when it is cached")
	sources := flag.String("feeds", "", "feeds to search, as cnn=URL,bbc=URL,nyt=URL; empty serves three of its own")
	ascii := flag.Bool("ascii", false, "serve feeds of its own without letters beyond ASCII")
	flag.Parse()
	handler := feeds.Handler()
	if *ascii {
		handler = feeds.ASCII()
	}
	if err := run(*addr, *sources, handler, *fixed); err != nil {
		log.Fatalln("newssearch:", err)
	}
}

// run serves on addr; without sources it searches those of own.
func run(addr, sources string, own http.Handler, fixed bool) error {
	urls, err := parseFeeds(sources)
	if err != nil {
		return err
	}
	if len(urls) == 0 {
		local, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go http.Serve(local, own)
		for _, name := range feeds.Names {
			urls[name] = fmt.Sprintf("http://%s/%s.xml", local.Addr(), name)
		}
	}

	mux := http.DefaultServeMux
	service.Register(mux, search.New(urls, fixed))
	log.Printf("fixed: %v", fixed)
	return web.Serve(addr, "/search", mux)
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
