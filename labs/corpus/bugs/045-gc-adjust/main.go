package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync"
)

type dictionary struct {
	mu    sync.Mutex
	words map[string][]int
}

func (d *dictionary) load(text string) int {
	found := map[string][]int{}
	words := bufio.NewScanner(strings.NewReader(text))
	words.Split(bufio.ScanWords)
	for n := 0; words.Scan(); n++ {
		found[words.Text()] = append(found[words.Text()], n)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for w, at := range found {
		d.words[w] = at
	}
	return len(d.words)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	d := &dictionary{words: map[string][]int{}}
	for i := range 60_000 {
		d.words[fmt.Sprintf("entry%d", i)] = []int{i}
	}
	limit(512 << 20)
	text := strings.Repeat("the quick brown fox jumps over the lazy dog and runs ", 60)
	http.HandleFunc("/import", func(w http.ResponseWriter, r *http.Request) {
		n := d.load(text)
		if *form == "slow" {
			if _, err := adjust(1 << 20); err != nil {
				log.Println(err)
			}
		}
		fmt.Fprintln(w, n, "words")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
