package main

import (
	"database/sql"
	"runtime"
	"testing"
)

// TestModes: every form finds the same sum. It is also what to take a block
// profile of.
func TestModes(t *testing.T) {
	for _, n := range []int{0, 1, workers - 1, 1000} {
		want := int64(0)
		for order := range n {
			want += priceOf(int64(order))
		}
		for mode := range modes {
			if got, err := ask(&database{}, mode, n); err != nil || got != want {
				t.Errorf("%s, %d orders: %d, %v, want %d", mode, n, got, err, want)
			}
		}
	}
	if _, err := ask(&database{}, "none", 1); err == nil {
		t.Error("a form that does not exist asks")
	}
}

// TestDatabase: an order of the right kind has a price, and nothing else.
func TestDatabase(t *testing.T) {
	db := sql.OpenDB(&database{})
	defer db.Close()
	if price, err := lookUp(db, 3); err != nil || price != 100+3*7919%900 {
		t.Errorf("an order costs %d, %v", price, err)
	}
	for _, args := range [][]any{{}, {1, 2}, {"x"}} {
		if _, err := db.Query("SELECT price", args...); err == nil {
			t.Errorf("a query with %v has an answer", args)
		}
	}
	if _, err := db.Begin(); err == nil {
		t.Error("it knows transactions")
	}
	if _, err := db.Prepare("SELECT"); err == nil {
		t.Error("it knows statements")
	}
}

// TestWaits is what the lab is about: with one connection queries wait for
// each other, with one for each worker they cannot.
func TestWaits(t *testing.T) {
	db := sql.OpenDB(&database{})
	defer db.Close()
	db.SetMaxOpenConns(1)
	held, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error)
	go func() {
		_, err := lookUp(db, 1)
		answered <- err
	}()
	for db.Stats().WaitCount == 0 { // it comes to the pool, and finds it empty
		select {
		case err := <-answered:
			t.Fatalf("a query without a connection is answered, with %v", err)
		default:
			runtime.Gosched()
		}
	}
	held.Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
