// Command target does a fixed amount of work that makes garbage, in one of
// several ways: it is what predictions of package gc are held against.
//
//	target trees       binary trees: short lives, a live heap of a few MB
//	target cache       a cache of 400,000 entries that two goroutines fill as fast as they can
//	target paced       the same cache at a fixed rate: the CPUs are idle most of the time
//	target json        an HTTP server that answers with JSON, and its clients
//	target growing     an index that grows to 200 MB
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	ways := map[string]func(){
		"trees":   trees,
		"cache":   func() { cache(400_000, 1_500_000, 0) },
		"paced":   func() { cache(200_000, 200_000, 8*time.Millisecond) },
		"json":    serve,
		"growing": growing,
	}
	if len(os.Args) != 2 || ways[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: work trees|cache|paced|json|growing")
		os.Exit(2)
	}
	ways[os.Args[1]]()
}

// tree is one of the benchmark that is named after it.
type tree struct{ left, right *tree }

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

func (t *tree) count() int {
	if t.left == nil {
		return 1
	}
	return 1 + t.left.count() + t.right.count()
}

func trees() {
	const depth = 18
	kept := grow(depth)
	for d := 4; d <= depth; d += 4 {
		n := 0
		for range 1 << (depth - d + 4) {
			n += grow(d).count()
		}
		fmt.Println(d, n)
	}
	fmt.Println(kept.count())
}

// entry is what the cache holds.
type entry struct {
	key  string
	tags []string
	data []byte
}

func newEntry(r *rand.Rand) *entry {
	return &entry{strconv.FormatUint(r.Uint64(), 36), []string{"a", "b", "c"}, make([]byte, 32+r.IntN(128))}
}

// cache replaces entries of a live heap of one size. With a pause, each of the
// two goroutines rests that long after every hundred.
func cache(size, turns int, pause time.Duration) {
	all := make([]*entry, size)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range all {
		all[i] = newEntry(r)
	}
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(3, uint64(w)))
			mine := all[w*size/2 : (w+1)*size/2]
			for i := range turns {
				for range 4 {
					mine[r.IntN(len(mine))] = newEntry(r)
				}
				if pause > 0 && i%100 == 99 {
					time.Sleep(pause)
				}
			}
		})
	}
	wg.Wait()
}

// item is what the server sends.
type item struct {
	ID    int               `json:"id"`
	Name  string            `json:"name"`
	Price float64           `json:"price"`
	Tags  []string          `json:"tags"`
	More  map[string]string `json:"more"`
}

// serve answers 12,000 requests with a part of what it holds.
func serve() {
	items := make([]item, 50_000)
	for i := range items {
		n := strconv.Itoa(i)
		items[i] = item{i, "item " + n, float64(i) / 7, []string{"x", n}, map[string]string{"k" + n: n, "z": "y"}}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("from"))
		from %= len(items) - 100
		json.NewEncoder(w).Encode(items[from : from+100])
	}))
	defer s.Close()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 3000 {
				reply, err := http.Get(s.URL + "/?from=" + strconv.Itoa(i*37+w))
				if err != nil {
					fmt.Fprintln(os.Stderr, "work:", err)
					os.Exit(1)
				}
				var got []item
				json.NewDecoder(reply.Body).Decode(&got)
				io.Copy(io.Discard, reply.Body)
				reply.Body.Close()
			}
		})
	}
	wg.Wait()
}

// growing keeps a tenth of what it allocates, so that the live heap grows.
func growing() {
	r := rand.New(rand.NewPCG(5, 6))
	index := map[string]*entry{}
	for i := range 8_000_000 {
		if e := newEntry(r); i%10 == 0 {
			index[e.key] = e
		}
	}
	fmt.Println(len(index))
}
