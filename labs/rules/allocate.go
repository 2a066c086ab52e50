package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

type node struct {
	left, right *node
	value       int
}

// al01 takes most of its time for allocating objects of a few words.
func al01() {
	one := &node{}
	spend(func() {
		for i := range 10_000 {
			if !fixed {
				one = &node{}
			}
			one.value = i
			sink = one
		}
	})
}

// al05 makes a buffer for each line: its size is in a variable, and nothing else takes it
// to the heap.
func al05() {
	serve(func() {
		for i := range 1_000 {
			if fixed {
				var line [2048]byte
				counted += fill(line[:])
				continue
			}
			counted += filled(1024 + i)
		}
	})
}

var counted int

//go:noinline
func filled(n int) int {
	line := make([]byte, n)
	return fill(line)
}

//go:noinline
func fill(b []byte) int {
	b[0], b[len(b)-1] = 1, 2
	return int(b[0] + b[len(b)-1])
}

// al06 appends a thousand numbers to a slice without room.
func al06() {
	serve(func() {
		for range 100 {
			var all []int
			if fixed {
				all = make([]int, 0, 1000)
			}
			for i := range 1000 {
				all = append(all, i)
			}
			sink = all
		}
	})
}

// al07 makes a function for each of the numbers.
func al07() {
	step := 0
	add := func(x int) int { return x + step }
	serve(func() {
		for i := range 10_000 {
			if !fixed {
				add = func(x int) int { return x + i }
			}
			step = i
			apply(add)
		}
	})
}

var applied func(int) int

//go:noinline
func apply(f func(int) int) {
	applied = f
	counted += f(1)
}

// al10 makes a string of each line to search in it.
func al10() {
	line := bytes.Repeat([]byte("all is well, "), 100)
	serve(func() {
		for range 1_000 {
			if fixed {
				counted += lengthOfBytes(line)
			} else {
				counted += lengthOfText(string(line))
			}
		}
	})
}

//go:noinline
func lengthOfText(s string) int { return len(s) + strings.IndexByte(s, 'x') }

//go:noinline
func lengthOfBytes(s []byte) int { return len(s) + bytes.IndexByte(s, 'x') }

// al11 prints numbers with a format.
func al11() {
	buf := make([]byte, 0, 100)
	serve(func() {
		for i := range 1_000 {
			if fixed {
				buf = strconv.AppendInt(append(buf[:0], "user:"...), int64(i), 10)
				continue
			}
			sink = fmt.Sprintf("user:%d:%s", i, "name")
		}
	})
	sink = buf
}

// al13 makes a reader with a buffer of its own for each message.
func al13() {
	message := strings.Repeat("a line\n", 20)
	in := strings.NewReader(message)
	lines := bufio.NewReader(in)
	serve(func() {
		for range 1_000 {
			in.Reset(message)
			if fixed {
				lines.Reset(in)
			} else {
				lines = bufio.NewReader(in)
			}
			line, err := lines.ReadSlice('\n')
			if err != nil {
				panic(err)
			}
			counted += len(line)
		}
	})
}

var buffers = sync.Pool{New: func() any { return new([4096]byte) }}

// al15 takes buffers out of a pool and puts none back.
func al15() {
	serve(func() {
		for range 1_000 {
			b := buffers.Get().(*[4096]byte)
			counted += fill(b[:])
			if fixed {
				buffers.Put(b)
			}
		}
	})
}

// al16 fills maps of known size that are made without one.
func al16() {
	sized := map[int]int{}
	if fixed {
		sized = make(map[int]int, 10_000)
	}
	spend(func() {
		m := sized
		if fixed {
			clear(m)
		} else {
			m = map[int]int{}
		}
		for i := range 10_000 {
			m[i] = i
		}
		counted += len(m)
	})
}

// al17 makes a timer for each value that it receives.
func al17() {
	values := make(chan int, 1)
	timer := time.NewTimer(time.Hour)
	serve(func() {
		for i := range 1_000 {
			values <- i
			if fixed {
				timer.Reset(time.Hour)
				select {
				case v := <-values:
					counted += v
				case <-timer.C:
				}
				continue
			}
			select {
			case v := <-values:
				counted += v
			case <-time.After(time.Hour):
			}
		}
	})
}

type wide struct {
	id   int
	rest [63]int
}

// al18 copies half a kilobyte to look at one field.
func al18() {
	all := make([]wide, 1000)
	spend(func() {
		for range 100 {
			if fixed {
				for i := range all {
					counted += all[i].id
				}
				continue
			}
			for _, w := range all {
				counted += touch(w)
			}
		}
	})
}

//go:noinline
func touch(w wide) int { return w.id + w.rest[w.id&63] }

var lock sync.Mutex

// al19 defers the unlock of each turn to the end of all.
func al19() {
	serve(func() {
		for range 100 {
			if fixed {
				for i := range 100 {
					under(i)
				}
				continue
			}
			deferred(100)
		}
	})
}

func under(i int) {
	lock.Lock()
	defer lock.Unlock()
	counted += i
}

func deferred(n int) {
	for i := range n {
		defer func() { counted += i }()
	}
}

type padded struct {
	a bool
	b int64
	c bool
	d int64
	e bool
	f int64
	g bool
	h int64
}

type packed struct {
	b, d, f, h int64
	a, c, e, g bool
}

// al20 keeps a million structs, of which a good third is padding.
func al20() {
	var all []any
	for range 1_000_000 {
		if fixed {
			all = append(all, &packed{})
		} else {
			all = append(all, &padded{})
		}
	}
	stay()
	keep(all)
}

// al21 reads bodies of known length without saying so.
func al21() {
	body := bytes.Repeat([]byte("x"), 64<<10)
	buf := make([]byte, len(body))
	in := bytes.NewReader(body)
	serve(func() {
		for range 10 {
			in.Reset(body)
			if fixed {
				if _, err := io.ReadFull(in, buf); err != nil {
					panic(err)
				}
				counted += len(buf)
				continue
			}
			all, err := io.ReadAll(struct{ io.Reader }{in})
			if err != nil {
				panic(err)
			}
			counted += len(all)
		}
	})
}

// al22 makes a decoder for each message.
func al22() {
	message := []byte(`{"id":1,"name":"one"}`)
	in := bytes.NewReader(message)
	var got struct {
		ID   int
		Name string
	}
	serve(func() {
		for range 100 {
			var err error
			if fixed {
				err = json.Unmarshal(message, &got)
			} else {
				in.Reset(message)
				err = json.NewDecoder(in).Decode(&got)
			}
			if err != nil {
				panic(err)
			}
		}
	})
}

// al23 splits each message, and looks at two of its parts.
func al23() {
	message := "page.views:1|c|@0.5|#env:prod"
	serve(func() {
		for range 1000 {
			if fixed {
				name, rest, _ := strings.Cut(message, "|")
				kind, _, _ := strings.Cut(rest, "|")
				counted += len(name) + len(kind)
				continue
			}
			parts := strings.Split(message, "|")
			counted += len(parts[0]) + len(parts[1])
		}
	})
}
