package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"math/rand/v2"

	"loupe/labs/form"
)

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "one", "how to replace: `one` of "+form.Names(modes))
	messages := flag.Int("messages", 3_000_000, "`number` of messages in the stream")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		replace, err := form.Choose(modes, *mode)
		if err != nil {
			return err
		}
		if *messages < 0 {
			return errors.New("-messages cannot be negative")
		}
		size, sum := correct(replace, *messages)
		fmt.Printf("%d messages, %d bytes: %016x\n", *messages, size, sum)
		return nil
	})
	if err != nil {
		log.Fatalln("stream:", err)
	}
}

// correct replaces the name in so many messages, and returns the length and a
// hash of what went out.
func correct(replace func(data, find, repl []byte, out *bytes.Buffer), messages int) (size int, sum uint64) {
	find, repl := []byte("elvis"), []byte("Elvis")
	source := newMessages(1)
	hash := fnv.New64a()
	var out bytes.Buffer
	for n := range messages {
		out.Reset()
		replace(source.message(n), find, repl, &out)
		size += out.Len()
		if n%64 == 0 { // the hash is not what this program is about
			hash.Write(out.Bytes())
		}
	}
	return size, hash.Sum64()
}

// messages are texts in which the name comes often, and often almost.
type messages [1024][]byte

func newMessages(seed uint64) *messages {
	words := []string{"elvis", "Elvis", "elvi", "el", "eelvis", "elvielvis", "has", "left", "the", "building", "again"}
	random := rand.New(rand.NewPCG(seed, 0))
	m := &messages{}
	for i := range m {
		for range 4 + random.IntN(5) {
			m[i] = append(append(m[i], words[random.IntN(len(words))]...), ' ')
		}
	}
	return m
}

// message returns the n-th text of an endless row.
func (m *messages) message(n int) []byte { return m[n%len(m)] }
