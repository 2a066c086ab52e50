package main

import (
	"fmt"
	"sync"
	"time"
)

// order is what a customer wants.
type order struct {
	id       int
	customer string
	basket   [64]int64 // prices of the things in it, in cents
}

// shop takes orders.
type shop struct {
	mode string

	mu     sync.Mutex
	open   map[int]*order   // those that are not paid yet
	prices map[string]int64 // by customer and basket
	recent []string         // the keys of prices, the oldest first
	paid   map[int]chan struct{}
	queue  []*order // those that are to be delivered, the oldest first
}

// modes lists the forms.
var modes = map[string]bool{"map": true, "goroutine": true, "cache": true, "queue": true, "quote": true, "fixed": true}

func newShop(mode string) *shop {
	return &shop{mode: mode, open: map[int]*order{}, prices: map[string]int64{}, paid: map[int]chan struct{}{}}
}

// unpaid is which of the orders are never paid: one of so many.
const unpaid = 8

// patience is how long the fixed form waits for a payment.
const patience = 2 * time.Second

// take takes an order and returns what it costs.
func (s *shop) take(id int) int64 {
	o := &order{id: id, customer: fmt.Sprintf("customer %d", id*7919%100_003)}
	for i := range o.basket {
		o.basket[i] = int64((id + i*31) % 997)
	}
	price := s.price(o)
	switch s.mode {
	case "map":
		s.remember(o)
	case "goroutine":
		s.await(o, 0)
	case "quote":
		s.ask(o, id%unpaid != 0)
	case "queue":
		s.mu.Lock()
		s.queue = append(s.queue, o)
		s.mu.Unlock()
	case "fixed":
		s.remember(o)
		s.await(o, patience)
	}
	if id%unpaid != 0 {
		s.pay(id)
	}
	return price
}

// remember keeps an order so that it is found when it is paid.
func (s *shop) remember(o *order) {
	s.mu.Lock()
	s.open[o.id] = o
	s.mu.Unlock()
}

// await waits for the payment of an order in the background, for a while or for
// ever.
func (s *shop) await(o *order, wait time.Duration) {
	paid := make(chan struct{})
	s.mu.Lock()
	s.paid[o.id] = paid
	s.mu.Unlock()
	var end <-chan time.Time
	if wait > 0 {
		end = time.After(wait)
	}
	go func() {
		select {
		case <-paid:
		case <-end:
		}
		s.close(o)
	}()
}

// ask gets a quote from a carrier, or does not wait for the answer: then nobody
// is there to take it, and nobody else knows the channel.
func (s *shop) ask(o *order, wait bool) {
	quote := make(chan int64)
	go func() {
		quote <- o.basket[0] % 10
	}()
	if wait {
		<-quote
	}
}

// deliver works off the oldest of the queue, at most n, and lets go of them.
func (s *shop) deliver(n int) (note string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = min(n, len(s.queue))
	for i, o := range s.queue[:n] {
		note = fmt.Sprint(o.customer, o.basket)
		s.queue[i] = nil
	}
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		s.queue = nil // with the room that it had
	}
	return note
}

// close forgets an order.
func (s *shop) close(o *order) {
	s.mu.Lock()
	delete(s.open, o.id)
	delete(s.paid, o.id)
	s.mu.Unlock()
}

// pay tells that an order is paid.
func (s *shop) pay(id int) {
	s.mu.Lock()
	paid := s.paid[id]
	s.mu.Unlock()
	if paid != nil {
		close(paid)
	}
}

// cached is how many prices the fixed form keeps.
const cached = 1000

// price adds up a basket, or remembers what it came to.
func (s *shop) price(o *order) (sum int64) {
	key := ""
	if s.mode == "cache" || s.mode == "fixed" {
		key = fmt.Sprint(o.customer, o.basket)
		s.mu.Lock()
		price, ok := s.prices[key]
		s.mu.Unlock()
		if ok {
			return price
		}
	}
	for _, cents := range o.basket {
		sum += cents
	}
	if key == "" {
		return sum
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prices[key] = sum
	if s.mode == "fixed" {
		s.recent = append(s.recent, key)
		if len(s.recent) > cached {
			delete(s.prices, s.recent[0])
			s.recent = append(s.recent[:0], s.recent[1:]...)
		}
	}
	return sum
}

// held counts what the shop holds.
func (s *shop) held() (open, prices, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) + len(s.queue), len(s.prices), len(s.paid)
}
