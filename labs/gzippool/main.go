package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"log"

	"loupe/labs/form"
)

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "slow", "how to compress: `one` of "+form.Names(modes))
	answers := flag.Int("answers", 5000, "`number` of answers to give")
	families := flag.Int("families", 24, "`number` of metrics, with eight series each")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		encode, err := form.Choose(modes, *mode)
		if err != nil {
			return err
		}
		if *answers < 0 || *families < 1 {
			return errors.New("-answers cannot be negative, and there is at least one family")
		}
		size, sum, err := answer(encode, *answers, *families)
		if err == nil {
			fmt.Printf("%d answers, %d bytes: %08x\n", *answers, size, sum)
		}
		return err
	})
	if err != nil {
		log.Fatalln("gzippool:", err)
	}
}

// answer gives so many answers and returns their length and their checksum.
func answer(encode func(m *metrics, out io.Writer) error, answers, families int) (size int, sum uint32, err error) {
	m := newMetrics(families)
	out := &wire{}
	for range answers {
		m.count()
		if err := encode(m, out); err != nil {
			return 0, 0, err
		}
	}
	return out.size, out.sum, nil
}

// wire is where the answers go.
type wire struct {
	size int
	sum  uint32
}

func (w *wire) Write(p []byte) (int, error) {
	w.size += len(p)
	w.sum = crc32.Update(w.sum, crc32.IEEETable, p)
	return len(p), nil
}
