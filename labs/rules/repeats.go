package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// cp26 prices the same few orders again for each line of a report; the other form prices each once.
func cp26() {
	orders := []string{"pens", "paper", "a desk and two chairs"}
	prices, step := map[string]string{}, 0
	spend(func() {
		step++
		for i := range 60 {
			name := fmt.Sprint(orders[i%len(orders)], " of step ", step)
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
		b.WriteString(word)
		b.WriteByte(byte('0' + (int(count(20_000))+i)&7))
	}
	return b.String()
}

// cp27 goes through all names that it has for each new one; the other form asks a map.
func cp27() {
	spend(func() {
		var names []string
		known := map[string]bool{}
		for i := range 3_000 {
			name := strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
			if fixed {
				if !known[name] {
					known[name] = true
					names = append(names, name)
				}
				continue
			}
			names = withName(names, name)
		}
		counted += len(names)
	})
}

// withName adds a name that is not there.
func withName(names []string, name string) []string {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return names
		}
	}
	return append(names, name)
}

// shop has what it sells.
type shop struct {
	goods  []string
	ranked func() string
}

// ranking is the goods in the order of their worth.
func (s *shop) ranking() string {
	var b strings.Builder
	for _, name := range s.goods {
		b.WriteString(priceOf(name))
	}
	return b.String()
}

// cp28 ranks all goods for each request; the other form once.
func cp28() {
	s := &shop{goods: strings.Fields("pens paper desks chairs lamps shelves folders clips")}
	s.ranked = sync.OnceValue(s.ranking)
	listen(func(w http.ResponseWriter, r *http.Request) {
		list := ""
		if fixed {
			list = s.ranked()
		} else {
			list = s.ranking()
		}
		io.WriteString(w, list[:int(count(100_000)&7)]+r.URL.Path)
	})
}

// stock is what a shop has, and its list.
type stock struct {
	goods []string
	list  func() []byte // made once
}

// write makes the list of all goods.
func (s *stock) write(w io.Writer) {
	for i, name := range s.goods {
		fmt.Fprintf(w, "%d %-12s %8.2f %s\n", i, name, float64(i)/7, strings.ToUpper(name))
	}
}

func cp30() {
	s := &stock{}
	for i := range 8000 {
		s.goods = append(s.goods, fmt.Sprintf("article %d", i))
	}
	s.list = sync.OnceValue(func() []byte {
		var b bytes.Buffer
		s.write(&b)
		return b.Bytes()
	})
	listen(func(w http.ResponseWriter, _ *http.Request) {
		if fixed {
			w.Write(s.list())
		} else {
			s.write(w)
		}
	})
}
