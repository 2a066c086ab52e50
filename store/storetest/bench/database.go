//go:build unix

package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"

	"loupe/store"
	"loupe/store/block"
	"loupe/store/clickhouse"
)

// subject is a store that is measured.
type subject struct {
	store.Engine
	size  func() int64 // bytes on the disk
	clock func() time.Duration
	unit  string
	// rounds are of each question, of which the best counts: more where the time is that of
	// the wall, which others are busy in.
	rounds int
	local  bool
}

// open opens what is measured: blocks in a folder, or a database.
func open(dir, address string) subject {
	if address == "" {
		e, err := block.Open(dir, block.Options{})
		check(err)
		return subject{e, func() int64 { return size(dir) }, cpu, "CPU", 7, true}
	}
	at, err := clickhouse.ParseAddress(address)
	check(err)
	e, err := clickhouse.Open(context.Background(), at, clickhouse.Options{Every: time.Millisecond})
	check(err)
	begun := time.Now()
	return subject{e, func() (n int64) {
		for _, host := range at.Hosts {
			n += ask(host, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '"+at.Database+"'")
		}
		return n
	}, func() time.Duration { return time.Since(begun) }, "wall", 40, false}
}

// ask asks one server for a number.
func ask(host, statement string) int64 {
	resp, err := http.Post("http://"+host+"/?default_format=TabSeparated", "text/plain", strings.NewReader(statement))
	check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	check(err)
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		log.Fatalf("%s: %s", statement, text)
	}
	return n
}

// settle lets a database merge what it has.
func settle(address string) {
	if address == "" {
		return
	}
	at, err := clickhouse.ParseAddress(address)
	check(err)
	for _, host := range at.Hosts {
		for _, table := range []string{"profiles", "stacks", "locations", "names", "seen"} {
			resp, err := http.Post("http://"+host+"/", "text/plain", strings.NewReader("OPTIMIZE TABLE "+at.Database+"."+table+" FINAL"))
			check(err)
			resp.Body.Close()
		}
	}
}
