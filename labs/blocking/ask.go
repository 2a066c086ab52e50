package main

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// modes lists the forms: the connections of the pool, and whether every price
// goes over a channel.
var modes = map[string]struct {
	connections int
	channel     bool
}{
	"one":  {1, false},
	"all":  {workers, false},
	"chan": {workers, true},
}

// workers is how many goroutines ask.
const workers = 16

// ask lets the workers look up orders 0 to n, and returns what they cost.
func ask(d *database, mode string, n int) (sum int64, err error) {
	form, ok := modes[mode]
	if !ok {
		return 0, fmt.Errorf("there is no form %q", mode)
	}
	db := sql.OpenDB(d)
	defer db.Close()
	db.SetMaxOpenConns(form.connections)
	db.SetMaxIdleConns(form.connections)

	var own [workers]int64
	var errs [workers]error
	var all sync.WaitGroup
	prices := make(chan int64)
	for w := range workers {
		all.Go(func() {
			for order := w; order < n; order += workers {
				price, err := lookUp(db, order)
				if err != nil {
					errs[w] = err
					return
				}
				if form.channel {
					prices <- price
				} else {
					own[w] += price
				}
			}
		})
	}
	go func() {
		all.Wait()
		close(prices)
	}()
	for price := range prices {
		sum += price
	}
	for _, s := range own {
		sum += s
	}
	return sum, errors.Join(errs[:]...)
}

// lookUp asks for the price of an order.
func lookUp(db *sql.DB, order int) (price int64, err error) {
	err = db.QueryRow("SELECT price FROM orders WHERE id = ?", order).Scan(&price)
	return price, err
}
