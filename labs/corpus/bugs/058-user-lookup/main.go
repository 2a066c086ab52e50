package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"sync/atomic"
)

type task struct {
	ID   int64  `json:"id"`
	User string `json:"user"`
	UID  int    `json:"uid"`
	GID  int    `json:"gid"`
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	l := &lookup{memo: *form == "fixed", known: map[string]ids{}}
	var tasks atomic.Int64
	http.HandleFunc("/task", func(w http.ResponseWriter, r *http.Request) {
		name := r.FormValue("user")
		id, err := l.find(name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		json.NewEncoder(w).Encode(task{ID: tasks.Add(1), User: name, UID: id.uid, GID: id.gid})
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
