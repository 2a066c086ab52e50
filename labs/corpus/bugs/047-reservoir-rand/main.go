package main

import (
	"flag"
	"fmt"
	"sync"
)

type subscriber struct {
	queue string
	got   int
}

func deliver(src *source, subs []subscriber, messages int) {
	for range messages {
		i := src.draw(len(subs))
		for subs[i].got > 100_000_000 {
			i = (i + 1) % len(subs)
		}
		subs[i].got++
	}
}

func main() {
	form := flag.String("form", "slow", "slow or fixed")
	clients := flag.Int("clients", 16, "clients that publish")
	messages := flag.Int("messages", 4_000_000, "messages of each")
	flag.Parse()
	src := newSource(*form == "slow")
	totals := make([]int, *clients)
	var wg sync.WaitGroup
	for c := range *clients {
		wg.Go(func() {
			subs := make([]subscriber, 10)
			for i := range subs {
				subs[i].queue = fmt.Sprintf("client%d.worker%d", c, i)
			}
			deliver(src, subs, *messages)
			for _, s := range subs {
				totals[c] += s.got
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range totals {
		sum += n
	}
	fmt.Println(sum, "messages delivered")
}
