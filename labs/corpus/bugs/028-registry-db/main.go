package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

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
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		time.Sleep(time.Millisecond)
		fmt.Fprintf(c, "ok %s\n", lines.Text())
	}
}

type server struct {
	dsn  string
	kept *storage
}

func (s *server) storage() (*storage, func(), error) {
	if s.kept != nil {
		return s.kept, func() {}, nil
	}
	st, err := openStorage(s.dsn)
	return st, func() { st.close() }, err
}

func (s *server) getAPI(w http.ResponseWriter, r *http.Request) {
	st, done, err := s.storage()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer done()
	spec, err := st.find(r.Context(), r.FormValue("name"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintln(w, spec)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	role := flag.String("peer", "", "be this peer")
	flag.Parse()
	if *role != "" {
		log.Fatal(database())
	}
	dsn, err := peer.Start("database")
	if err != nil {
		log.Fatal(err)
	}
	s := &server{dsn: dsn}
	if *form == "fixed" {
		if s.kept, err = openStorage(dsn); err != nil {
			log.Fatal(err)
		}
	}
	http.HandleFunc("/api", s.getAPI)
	log.Fatal(http.ListenAndServe(*addr, nil))
}
