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
	flag.Parse()
	if err := run(*addr, *sources, *fixed); err != nil {
		log.Fatalln("newssearch:", err)
	}
}

func run(addr, sources string, fixed bool) error {
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
