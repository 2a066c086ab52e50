package web

import (
	"context"
	"runtime/debug"
	"time"

	"loupe/analysis/heap"
	"loupe/analysis/postmortem"
)

// heldHeap is the one heap that the server has in memory. Its tables are a sixth of
// the heap of the program, and a third with the graph: those of another core take
// its place, and after a while without questions it is forgotten. Answers are small
// and stay, see onceFew.
type heldHeap struct {
	turn chan struct{} // has one token: who takes it may use the rest

	of      *postmortem.Core
	heap    *heap.Heap
	graph   *heap.Graph
	step    func(done float64) error // of the question that is being answered
	percent int                      // the collector's setting before
	until   time.Time                // it is kept, unless there are more questions
}

// heapIdle is how long a heap is kept without a question. The tests have less time.
var heapIdle = 2 * time.Minute

func newHeldHeap() *heldHeap {
	h := &heldHeap{turn: make(chan struct{}, 1)}
	h.turn <- struct{}{}
	return h
}

// use reads the heap of a core, unless it is there, and looks at it. ctx ends the
// reading; tell is told how much of the parts is done, of which reading the heap is
// the first. One question is answered at a time.
func (h *heldHeap) use(ctx context.Context, c *postmortem.Core, parts int, tell func(done float64), look func() error) error {
	select {
	case <-h.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { h.turn <- struct{}{} }()
	defer func() {
		h.until = time.Now().Add(heapIdle)
		time.AfterFunc(heapIdle, h.idle)
	}()
	if h.of != c {
		h.forget()
	}
	begun, all := 0.0, float64(parts)
	if h.heap != nil {
		all = max(1, all-1)
	}
	h.step = func(done float64) error {
		tell((begun + done) / all)
		return ctx.Err()
	}
	if h.heap == nil {
		// The tables are large and have no pointers: collecting often costs
		// little, and leaves little behind.
		h.percent = debug.SetGCPercent(20)
		h.of = c
		var err error
		if h.heap, err = c.Heap(func(done float64) error { return h.step(done) }); err != nil {
			h.forget()
			return err
		}
		begun++
	}
	return look()
}

// edges returns the graph, for look of use.
func (h *heldHeap) edges() (*heap.Graph, error) {
	if h.graph == nil {
		g, err := h.heap.Graph()
		if err != nil {
			return nil, err
		}
		h.graph = g
	}
	return h.graph, nil
}

// idle forgets the heap, unless there was a question meanwhile.
func (h *heldHeap) idle() {
	<-h.turn
	if !time.Now().Before(h.until) {
		h.forget()
	}
	h.turn <- struct{}{}
}

// forget gives the memory back.
func (h *heldHeap) forget() {
	if h.of == nil {
		return
	}
	h.of, h.heap, h.graph, h.step = nil, nil, nil, nil
	debug.SetGCPercent(h.percent)
	debug.FreeOSMemory()
}
