package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

// workloads are the things that can be traced. Each starts its goroutines and
// returns.
var workloads = map[string]func(*crew){
	"http":  serve,
	"chan":  channels,
	"tasks": tasks,
	"mutex": locks,
	"mixed": func(c *crew) {
		serve(c)
		channels(c)
		tasks(c)
		locks(c)
	},
	"dense": dense,
	"idle": func(c *crew) {
		park(c, 100_000)
		channels(c)
	},
}

// random returns the generator of one worker, the same in every run.
func random(worker int) *rand.Rand { return rand.New(rand.NewSource(int64(worker) + 1)) }

// spin keeps a P busy for n rounds of hashing, each some hundred nanoseconds.
func spin(n int) {
	var sum [sha256.Size]byte
	for i := 0; i < n; i++ {
		sum = sha256.Sum256(sum[:])
	}
	runtime.KeepAlive(sum)
}

// document is one thing that the server knows.
type document struct {
	ID    int      `json:"id"`
	Title string   `json:"title"`
	Words []string `json:"words"`
}

// library answers requests: from its cache, or by making three parts side by
// side. It makes garbage, as servers do.
type library struct {
	mu    sync.RWMutex
	cache map[int][]byte
}

// ServeHTTP answers with a document.
func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := len(r.URL.RawQuery) * 131 % 64
	fmt.Sscan(r.URL.RawQuery, &id)
	l.mu.RLock()
	body := l.cache[id]
	l.mu.RUnlock()
	if body == nil {
		body = l.make(id)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

// make makes a document and keeps it; the cache forgets all when it is full.
func (l *library) make(id int) []byte {
	parts := make([][]string, 3)
	var wg sync.WaitGroup
	for i := range parts {
		i := i
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := 0; k < 40; k++ {
				parts[i] = append(parts[i], fmt.Sprintf("word-%d-%d-%d", id, i, k))
			}
		}()
	}
	wg.Wait()
	doc := document{ID: id, Title: fmt.Sprint("document ", id)}
	for _, p := range parts {
		doc.Words = append(doc.Words, p...)
	}
	body, err := json.Marshal(doc)
	if err != nil {
		panic(err) // a document is always JSON
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cache == nil || len(l.cache) >= 200 {
		l.cache = make(map[int][]byte)
	}
	l.cache[id] = body
	return body
}

// serve lets 32 clients ask a server on the loopback for documents.
func serve(c *crew) {
	const clients = 32
	server := httptest.NewServer(new(library))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	for n := 0; n < clients; n++ {
		rnd := random(n)
		c.work(func() {
			for c.on() {
				answer, err := client.Get(fmt.Sprintf("%s/?%d", server.URL, rnd.Intn(400)))
				if err != nil {
					continue // the next one will do
				}
				var doc document
				json.NewDecoder(answer.Body).Decode(&doc)
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		})
	}
	c.untilStop(func() {
		client.CloseIdleConnections()
		server.Close()
	})
}

// channels passes numbers through pipelines of four stages, multiplexes with
// select, ticks, and starts goroutines that live for a moment.
func channels(c *crew) {
	for n := 0; n < 4; n++ {
		pipeline(c, n)
	}
	for n := 0; n < 4; n++ {
		a, b := make(chan int), make(chan int, 8)
		rnd := random(100 + n)
		c.work(func() {
			for round := 0; c.on(); round++ {
				pause(round)
				offer(c, a, round)
			}
		})
		c.work(func() {
			for round := 0; c.on(); round++ {
				pause(round)
				offer(c, b, round)
			}
		})
		c.work(func() {
			for c.on() {
				select {
				case <-a:
				case <-b:
				case <-c.stop:
				}
				spin(rnd.Intn(8))
			}
		})
	}
	for n := 0; n < 4; n++ {
		period := time.Duration(n+1) * 500 * time.Microsecond
		c.work(func() {
			for c.on() {
				time.Sleep(period)
			}
		})
	}
	for n := 0; n < 2; n++ {
		rnd := random(200 + n)
		c.work(func() {
			for c.on() {
				burst(rnd)
			}
		})
	}
}

// burst starts a few goroutines that do a little, and waits for them.
func burst(rnd *rand.Rand) {
	var wg sync.WaitGroup
	for n := 4 + rnd.Intn(8); n > 0; n-- {
		work := rnd.Intn(16)
		wg.Add(1)
		go func() {
			defer wg.Done()
			spin(work)
		}()
	}
	wg.Wait()
}

// pipeline is a source, two stages and a drain.
func pipeline(c *crew, n int) {
	first, second, last := make(chan int), make(chan int), make(chan int, 16)
	stage := func(from, to chan int) {
		c.work(func() {
			for c.on() {
				select {
				case v := <-from:
					offer(c, to, v+1)
				case <-c.stop:
				}
			}
		})
	}
	c.work(func() {
		for round := 0; c.on(); round++ {
			spin(n)
			pause(round)
			offer(c, first, round)
		}
	})
	stage(first, second)
	stage(second, last)
	c.work(func() {
		for c.on() {
			select {
			case <-last:
			case <-c.stop:
			}
		}
	})
}

// pause lets others run now and then: goroutines that pass a number on wake
// each other up before all that wait.
func pause(round int) {
	if round%64 == 0 {
		time.Sleep(200 * time.Microsecond)
	}
}

// offer sends v, or gives up when all is over.
func offer(c *crew, to chan int, v int) {
	select {
	case to <- v:
	case <-c.stop:
	}
}

// tasks runs user tasks of three types.
func tasks(c *crew) {
	types := []string{"import", "search", "render"}
	for n := 0; n < 8; n++ {
		rnd := random(300 + n)
		typ := types[n%len(types)]
		c.work(func() {
			for round := 0; c.on(); round++ {
				task(typ, round, rnd)
			}
		})
	}
}

// task is one user task with nested regions, a message, a child goroutine in a
// region of its own, and now and then a task below it.
func task(typ string, round int, rnd *rand.Rand) {
	ctx, task := trace.NewTask(context.Background(), typ)
	defer task.End()
	trace.Logf(ctx, "round", "%d of %s", round, typ)
	first, second := rnd.Intn(16), rnd.Intn(16)
	done := make(chan struct{})
	trace.WithRegion(ctx, "prepare", func() {
		spin(first)
		trace.WithRegion(ctx, "parse", func() { bytes.Count(make([]byte, 4096), []byte{1}) })
		go func() {
			defer close(done)
			trace.WithRegion(ctx, "fetch", func() { spin(second) })
		}()
	})
	trace.WithRegion(ctx, "wait", func() { <-done })
	if round%16 == 0 {
		_, sub := trace.NewTask(ctx, typ+" follow-up")
		runtime.Gosched()
		sub.End()
	}
}

// locks lets eight goroutines fight for a lock that is held for long now and
// then, and hands a turn around four others with a condition.
func locks(c *crew) {
	var hot sync.Mutex
	for n := 0; n < 8; n++ {
		rnd := random(400 + n)
		c.work(func() {
			for c.on() {
				hot.Lock()
				spin(rnd.Intn(4))
				if rnd.Intn(64) == 0 {
					time.Sleep(20 * time.Microsecond)
				}
				hot.Unlock()
				spin(rnd.Intn(4))
			}
		})
	}
	const players = 4
	var mu sync.Mutex
	turn, over := 0, false
	changed := sync.NewCond(&mu)
	for n := 0; n < players; n++ {
		n := n
		c.work(func() {
			for c.on() {
				mu.Lock()
				for turn != n && !over {
					changed.Wait()
				}
				turn = (n + 1) % players
				changed.Broadcast()
				mu.Unlock()
			}
		})
	}
	c.untilStop(func() { // nobody is left waiting for the turn of one who has gone
		mu.Lock()
		defer mu.Unlock()
		over = true
		changed.Broadcast()
	})
}

// park leaves n goroutines waiting for the end.
func park(c *crew, n int) {
	for ; n > 0; n-- {
		c.work(func() {
			for c.on() {
				<-c.stop
			}
		})
	}
}

// dense is 200,000 goroutines that live at one time, each of which runs for a moment
// before another has its turn.
func dense(c *crew) {
	for n := 0; n < 200_000; n++ {
		c.work(func() {
			for c.on() {
				runtime.Gosched()
			}
		})
	}
}
