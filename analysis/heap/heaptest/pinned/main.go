// Command pinned is a program that keeps parts of buffers in ways that are known: some are small, some are all of
// it, and some only look small. It compiles with Go 1.21 and says "ready" when all is there.
package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"
)

const size, many = 8 << 10, 200

type label struct{ name, value string }

type entry struct {
	labels []label
	count  int
}

type pair struct{ key, value []byte }

type cell struct{ x, y int64 }

type mixed struct {
	text string
	at   *byte
}

var (
	index   = map[int]*entry{} // two substrings of 20 bytes of each buffer
	names   = map[string]int{} // a substring as a key
	limited [][]byte           // a part with no room behind it
	pairs   []pair             // two parts with room behind them: neither is meant to grow
	whole   [][]byte           // all of each
	grown   [][]byte           // 20 bytes, with room for more
	behind  [][]byte           // a part with room up to the end, alone
	lines   []string           // all lines of each text
	halves  []string           // half of each text
	cells   []*cell            // one element of each slab, by a pointer
	both    []mixed            // a substring, and a pointer into the same buffer
	last    [many]string       // substrings in the variable itself
	small   []string           // of buffers that are small themselves
)

func text(i int) string {
	return fmt.Sprintf("%020d", i) + strings.Repeat("0123456789012345678\n", size/20-1)
}

func buffer(i int) []byte { return []byte(text(i) + strings.Repeat("x", size-len(text(i)))) }

func main() {
	done := make(chan bool)
	go func() { // whose stack goes with it: a frame may have what it uses no more
		build()
		close(done)
	}()
	<-done
	runtime.GC()
	runtime.GC()
	debug.SetGCPercent(-1)
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}

// build fills all of them.
func build() {
	for i := 0; i < many; i++ {
		t := string(buffer(i))
		index[i] = &entry{labels: []label{{t[:20], t[40:60]}}}
		names[string(buffer(i))[:20]] = i
		b := buffer(i)
		limited = append(limited, b[100:120:120])
		b = buffer(i)
		pairs = append(pairs, pair{b[100:120], b[200:220]})
		whole = append(whole, buffer(i))
		grown = append(grown, append(make([]byte, 0, size), "01234567890123456789"...))
		behind = append(behind, buffer(i)[100:120])
		lines = append(lines, strings.Split(string(buffer(i)), "\n")...)
		halves = append(halves, string(buffer(i))[:size/2])
		cells = append(cells, &make([]cell, size/16)[7])
		both = append(both, mixedOf(buffer(i)))
		last[i] = string(buffer(i))[20:40]
		small = append(small, string(buffer(i)[:512])[:20])
	}
}

// mixedOf is a part of a new text, and a pointer to its first byte.
func mixedOf(b []byte) mixed {
	t := string(b)
	return mixed{t[:20], unsafe.StringData(t)}
}
