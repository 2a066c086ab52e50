package main

import (
	"flag"
	"fmt"
	"log"
	"os"
)

func main() {
	form := flag.String("form", "slow", "slow or fixed")
	turns := flag.Int("turns", 400, "how often to look")
	flag.Parse()
	root, err := os.MkdirTemp("", "tree")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	if err := makeTree(root, 8, 100); err != nil {
		log.Fatal(err)
	}
	count := countSources
	if *form == "fixed" {
		count = countEntries
	}
	total := 0
	for range *turns {
		n, err := count(root)
		if err != nil {
			log.Fatal(err)
		}
		total += n
	}
	fmt.Println(total, "files")
}
