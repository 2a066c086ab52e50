// Command entries makes the garbage of the logs beside it, in the version and
// with the GOGC that their names say: GODEBUG=gctrace=1 GOGC=25 ./entries
package main

import "strconv"

type entry struct {
	key  string
	data []byte
}

var all []*entry

func deep(n int, f func()) {
	var pad [256]byte
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
	pad[n%256]++
}

func main() {
	for i := 0; i < 1500000; i++ {
		e := &entry{strconv.Itoa(i), make([]byte, 20+i%100)}
		if size := 20000 + i/15; len(all) < size {
			all = append(all, e)
		} else {
			all[(i*7919)%len(all)] = e
		}
		if i == 700000 {
			go deep(9000, func() { select {} })
		}
	}
}
