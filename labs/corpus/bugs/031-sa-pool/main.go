package main

import (
	"bufio"
	"database/sql"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"example.com/bugs/peer"
	_ "example.org/wire"
)

func mysql() error {
	l, err := peer.Listen()
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go session(c)
	}
}

func session(c net.Conn) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		time.Sleep(2 * time.Millisecond)
		fmt.Fprintf(c, "valid %d\n", len(lines.Text()))
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(mysql())
	}
	dsn, err := peer.Start("mysql")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("wire", dsn)
	if err != nil {
		log.Fatal(err)
	}
	open := 1
	if *form == "fixed" {
		open = 32
	}
	db.SetMaxOpenConns(open)
	db.SetMaxIdleConns(open)
	http.Handle("/order", &authority{db: db})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
