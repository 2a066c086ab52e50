package main

import "strings"

// cp26 prices the same few orders again for each line of a report; the other form prices each once.
func cp26() {
	orders := []string{"pens", "paper", "a desk and two chairs"}
	prices := map[string]string{}
	spend(func() {
		for i := range 60 {
			name := orders[i%len(orders)]
			price, known := prices[name]
			if !fixed || !known {
				price = priceOf(name)
				prices[name] = price
			}
			counted += len(price)
		}
		counted += int(count(200_000))
		clear(prices)
	})
}

// priceOf is what an order costs, in words.
func priceOf(name string) string {
	var b strings.Builder
	for i, word := range strings.Fields(name) {
		b.WriteString(word[:1+int(count(20_000))%len(word)])
		b.WriteByte(byte('0' + i%10))
	}
	return b.String()
}
