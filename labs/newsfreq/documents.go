package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"loupe/labs/newssearch/feeds"
)

// distinct is how many different files there are. A search for more documents
// reads them again and again, which costs as much and is quicker to set up.
const distinct = 32

// generate writes the files into dir. They are the same in every run.
func generate(dir string) error {
	errs := make([]error, distinct)
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range distinct {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			name := feeds.Names[i%len(feeds.Names)]
			errs[i] = os.WriteFile(filepath.Join(dir, fileName(i)), feeds.Feed(name, uint64(i)), 0o600)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// fileName is where the nth document is.
func fileName(n int) string { return fmt.Sprintf("feed%02d.xml", n%distinct) }
