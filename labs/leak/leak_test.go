package main

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPrices: every form comes to the same prices.
func TestPrices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shops := map[string]*shop{}
		for mode := range modes {
			if mode == "quote" {
				continue // of the goroutines that it leaves nobody can end one
			}
			shops[mode] = newShop(mode)
		}
		for id := 1; id < 500; id++ {
			want := shops["fixed"].take(id)
			for mode, s := range shops {
				if mode != "fixed" && s.take(id) != want {
					t.Fatalf("%s: order %d costs something else", mode, id)
				}
			}
		}
		// The goroutines of orders that nobody pays wait for ever: they are
		// paid here, so that the test can end.
		for id := unpaid; id < 500; id += unpaid {
			shops["goroutine"].pay(id)
		}
		time.Sleep(2 * patience) // and the fixed form has given up
	})
}

// TestHeld is what the lab is about: what each form still holds when all that
// would end has ended.
func TestHeld(t *testing.T) {
	const orders = 8000
	f := func(mode string, open, prices, waiting int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := newShop(mode)
			for id := 1; id <= orders; id++ {
				s.take(id)
			}
			time.Sleep(2 * patience)
			synctest.Wait()
			if a, b, c := s.held(); a != open || b != prices || c != waiting {
				t.Errorf("%s holds %d orders, %d prices, %d that wait, want %d, %d, %d", mode, a, b, c, open, prices, waiting)
			}
			for id := unpaid; id <= orders && mode == "goroutine"; id += unpaid {
				s.pay(id)
			}
		})
	}
	f("map", orders, 0, 0)
	f("goroutine", 0, 0, orders/unpaid)
	f("cache", 0, orders, 0)
	f("queue", orders, 0, 0)
	f("fixed", 0, cached, 0)
}

// TestDelivered: what waits in the queue is let go of, the oldest first.
func TestDelivered(t *testing.T) {
	s := newShop("queue")
	for id := 1; id <= 10; id++ {
		s.take(id)
	}
	s.deliver(4)
	if left := s.queue; len(left) != 6 || left[0].id != 5 {
		t.Errorf("%d wait, want 6 from the fifth on", len(left))
	}
	if note := s.deliver(100); note == "" || s.queue != nil {
		t.Errorf("%d wait, want none", len(s.queue))
	}
	if note := s.deliver(1); note != "" {
		t.Error("an empty queue has something to deliver")
	}
}

// TestQuote: the form that leaves goroutines behind comes to the same prices. It
// takes no order that is given up.
func TestQuote(t *testing.T) {
	a, b := newShop("quote"), newShop("fixed")
	for id := 1; id < unpaid; id++ {
		if got, want := a.take(id), b.take(id); got != want {
			t.Errorf("order %d costs %d, want %d", id, got, want)
		}
	}
}

// TestRun: wrong flags are refused.
func TestRun(t *testing.T) {
	if run("none", 1000, 0, 0) == nil || run("map", 1, 0, 0) == nil {
		t.Error("wrong flags are taken")
	}
	if err := run("queue", 1000, 20*time.Millisecond, 30*time.Millisecond); err != nil {
		t.Error(err)
	}
}
