package main

import (
	"slices"
	"strconv"
	"strings"
)

// order is one of a ledger.
type order struct {
	number int
	text   string
}

// cp29 reads all orders of a ledger for a page of the last ones; the other form reads those of the page alone.
func cp29() {
	ledger := strings.Repeat("17 two lamps and a desk\n", 2_000)
	step := 0
	spend(func() {
		step++
		page := ordersOf(lastLines(ledger, 20))
		if !fixed {
			page = lastOrders(ledger, step%10, 20)
		}
		for _, o := range page {
			counted += len(o.text)
		}
	})
}

// lastOrders are the orders of a page of a ledger, the newest first.
func lastOrders(ledger string, page, size int) []order {
	orders := ordersOf(ledger)
	slices.Reverse(orders)
	from, to := page*size, (page+1)*size
	return orders[from:to]
}

// ordersOf reads the orders of a ledger.
func ordersOf(ledger string) (all []order) {
	for line := range strings.Lines(ledger) {
		number, text, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		all = append(all, order{n + int(count(50))&1, strings.ToUpper(text)})
	}
	return all
}

// lastLines is the end of a text with some lines.
func lastLines(text string, n int) string {
	at := len(text)
	for range n + 1 {
		at = strings.LastIndexByte(text[:at], '\n')
		if at < 0 {
			return text
		}
	}
	return text[at+1:]
}
