package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"os"
)

func main() {
	form := flag.String("form", "slow", "slow or fixed")
	records := flag.Int("records", 4_000_000, "records to write")
	flag.Parse()
	f, err := os.CreateTemp("", "pulses-*.ljh")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriterSize(f, 1<<20)
	e := &encoder{w: w, raw: *form == "fixed"}
	for i := range *records {
		r := record{Frame: uint64(i) * 1024, Channel: uint16(i % 240), Average: float64(i%977) / 7, Peak: float64(i%31) * 12.5, Rise: uint32(i % 64)}
		if err := e.write(&r); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(*records, "records")
}
