package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

type span struct {
	trace uint64
	name  string
	nanos int64
}

func main() {
	form := flag.String("form", "slow", "slow or fixed")
	n := flag.Int("spans", 1_200_000, "spans to export")
	flag.Parse()
	dir, err := os.MkdirTemp("", "spans")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	e, err := newExporter(filepath.Join(dir, "spans.json"), *form == "fixed")
	if err != nil {
		log.Fatal(err)
	}
	names := []string{"GET /", "SELECT", "render", "GET /static"}
	for i := range *n {
		s := span{trace: uint64(i/7) * 0x9e3779b97f4a7c15, name: names[i%len(names)], nanos: int64(i%977) * 1000}
		if err := e.export(s); err != nil {
			log.Fatal(err)
		}
	}
	if err := e.close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(*n, "spans")
}
