package main

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"
)

// query is what to look for, and where.
type query struct {
	dir  fs.FS
	term string
}

// modes lists the forms: each searches all documents and returns when the last
// one has its answer.
var modes = map[string]func(ctx context.Context, q query, docs []document){
	"find":   find,
	"fanout": fanOut,
	"sem":    semaphore,
	"numcpu": numCPU,
	"actor":  actor,
	"tasks":  numCPUTasks,
}

// find searches one document after the other.
func find(ctx context.Context, q query, docs []document) {
	for i := range docs {
		docs[i].search(ctx, q)
	}
}

// fanOut starts a goroutine for every document, which is fine for hundreds of
// them and not for a million.
func fanOut(ctx context.Context, q query, docs []document) {
	var wg sync.WaitGroup
	for i := range docs {
		wg.Go(func() { docs[i].search(ctx, q) })
	}
	wg.Wait()
}

// semaphore starts as many goroutines, but lets only some of them work.
func semaphore(ctx context.Context, q query, docs []document) {
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range docs {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			docs[i].search(ctx, q)
		})
	}
	wg.Wait()
}

// numCPU starts as many goroutines as can run at once.
func numCPU(ctx context.Context, q query, docs []document) {
	work(docs, func(d *document) { d.search(ctx, q) })
}

// numCPUTasks is numCPU with tasks and regions for the trace.
func numCPUTasks(ctx context.Context, q query, docs []document) {
	work(docs, func(d *document) { d.searchTraced(ctx, q) })
}

// work hands each document to one of as many workers as there are Ps.
func work(docs []document, do func(*document)) {
	queue := make(chan *document, len(docs))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for d := range queue {
				do(d)
			}
		})
	}
	for i := range docs {
		queue <- &docs[i]
	}
	close(queue)
	wg.Wait()
}

// actor is a pipeline with a goroutine for each step. It is no faster than its
// slowest step, which has nearly all of the work.
func actor(ctx context.Context, q query, docs []document) {
	files := make(chan *document, pipe)
	go func() {
		defer close(files)
		for i := range docs {
			docs[i].open(ctx, q.dir)
			files <- &docs[i]
		}
	}()
	texts := stage(files, (*document).read)
	parsed := stage(texts, (*document).decode)
	counted := stage(parsed, func(d *document) { d.count(q.term) })
	for range counted {
		// The last step has the answer; this waits for all of them.
	}
}

// pipe is how many documents may wait for a step of the pipeline.
const pipe = 16

// stage starts a goroutine that does one step of every document.
func stage(in <-chan *document, step func(*document)) <-chan *document {
	out := make(chan *document, pipe)
	go func() {
		defer close(out)
		for d := range in {
			step(d)
			out <- d
		}
	}()
	return out
}

// total adds up what was found: the items, and the documents that have any.
func total(docs []document) (items, hits int, err error) {
	var errs []error
	for i := range docs {
		items += docs[i].found
		if docs[i].found > 0 {
			hits++
		}
		errs = append(errs, docs[i].err)
	}
	return items, hits, errors.Join(errs...)
}
