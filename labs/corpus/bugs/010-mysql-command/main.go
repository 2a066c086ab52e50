package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"example.com/bugs/peer"
)

func database() error {
	l, err := peer.Listen()
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go answer(c)
	}
}

func answer(c net.Conn) {
	defer c.Close()
	var head [8]byte
	for {
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		command := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(c, command); err != nil {
			return
		}
		binary.BigEndian.PutUint32(head[:], uint32(len(command)))
		if _, err := c.Write(append(head[:], command...)); err != nil {
			return
		}
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(database())
	}
	db, err := peer.Start("database")
	if err != nil {
		log.Fatal(err)
	}
	p := &pool{addr: db, noDelay: *form == "fixed"}
	http.HandleFunc("/row", func(w http.ResponseWriter, r *http.Request) {
		c, err := p.get()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		row, err := c.query("SELECT name FROM users WHERE id = 1")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		p.put(c)
		fmt.Fprintln(w, row)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
