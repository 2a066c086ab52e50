package main

import (
	"flag"
	"fmt"
)

func main() {
	form := flag.String("form", "slow", "slow or fixed")
	keys := flag.Int("keys", 6_000, "keys to store")
	flag.Parse()
	s := newStore(*form == "fixed")
	for i := range *keys {
		key := fmt.Appendf(nil, "user:%08d", uint32(i)*2654435761%100_000_000)
		s.set(key, uint32(i))
	}
	for _, key := range s.from([]byte("user:5"), 3) {
		fmt.Printf("%s %d\n", key, s.values[string(key)])
	}
}
