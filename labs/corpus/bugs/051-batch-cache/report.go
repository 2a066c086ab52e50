package main

import (
	"strconv"
	"time"
)

func report(rows int, closes bool) (sum int) {
	c := newCache(time.Minute)
	if closes {
		defer c.close()
	}
	for row := range rows {
		sum += c.get("account "+strconv.Itoa(row%40), func(key string) int {
			return len(key) * row
		})
	}
	return sum
}
