package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// modes lists the forms: the cache, and whether all readers share a table.
var modes = map[string]struct {
	cache  func(fetch func(address string) (string, error)) cache
	shared bool
}{
	"held":  {newHeldCache, false},
	"each":  {newFreeCache, true},
	"fixed": {newFreeCache, false},
}

// table counts words.
type table map[string]int

// add counts the words of a page.
func (t table) add(page string) {
	for word := range strings.FieldsSeq(page) {
		t[word]++
	}
}

// sharedTable counts the words of several readers.
type sharedTable struct {
	mu    sync.Mutex
	words table
}

// add locks the table for each word: the other mistake of this lab.
func (t *sharedTable) add(page string) {
	for word := range strings.FieldsSeq(page) {
		t.mu.Lock()
		t.words[word]++
		t.mu.Unlock()
	}
}

// readers is how many goroutines read.
const readers = 16

// work is what there is to do: in every round, each reader reads all pages of
// the round so many times, beginning at another one.
type work struct {
	address              string // of the server of pages
	rounds, pages, times int
}

// count lets the readers work, and returns how often each word came.
func (w work) count(mode string) (table, error) {
	form, ok := modes[mode]
	if !ok {
		return nil, fmt.Errorf("there is no form %q", mode)
	}
	pages, shared := form.cache(fetch), &sharedTable{words: table{}}
	add := make([]func(page string), readers)
	own := make([]table, readers)
	for r := range readers {
		own[r], add[r] = table{}, shared.add
		if !form.shared {
			add[r] = own[r].add
		}
	}
	errs := make([]error, readers)
	for round := range w.rounds {
		var all sync.WaitGroup
		for r := range readers {
			all.Go(func() {
				for n := range w.pages * w.times {
					page, err := pages.get(fmt.Sprintf("%s/%d/%d", w.address, round, (r+n)%w.pages))
					if err != nil {
						errs[r] = err
						return
					}
					add[r](page)
				}
			})
		}
		all.Wait()
	}
	// The readers have ended: nobody else uses the tables.
	for _, t := range own {
		for word, n := range t {
			shared.words[word] += n
		}
	}
	return shared.words, errors.Join(errs...)
}

// fetch gets a page.
func fetch(address string) (string, error) {
	resp, err := http.Get(address)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", address, resp.Status)
	}
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}
