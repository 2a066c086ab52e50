package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"example.com/bugs/peer"
)

type collector struct {
	conn net.Conn
	ack  [1]byte
}

func (c *collector) Write(p []byte) (int, error) {
	n, err := c.conn.Write(append([]byte{byte(len(p) >> 16), byte(len(p) >> 8), byte(len(p))}, p...))
	if err == nil {
		_, err = io.ReadFull(c.conn, c.ack[:])
	}
	return n, err
}

func collect() error {
	l, err := peer.Listen()
	if err != nil {
		return err
	}
	c, err := l.Accept()
	if err != nil {
		return err
	}
	var head [3]byte
	for {
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return err
		}
		io.CopyN(io.Discard, c, int64(head[0])<<16|int64(head[1])<<8|int64(head[2]))
		time.Sleep(500 * time.Microsecond)
		c.Write(head[:1])
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(collect())
	}
	at, err := peer.Start("collector")
	if err != nil {
		log.Fatal(err)
	}
	conn, err := net.Dial("tcp", at)
	if err != nil {
		log.Fatal(err)
	}
	var h handler = &syncHandler{out: &collector{conn: conn}}
	if *form == "fixed" {
		h = newAsync(&collector{conn: conn})
	}
	http.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		h.log("debug", "validate", "from", r.RemoteAddr)
		sum := sha256.Sum256([]byte(r.RemoteAddr))
		h.log("info", "validated", "root", fmt.Sprintf("%x", sum[:4]))
		fmt.Fprintf(w, "%x\n", sum)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
