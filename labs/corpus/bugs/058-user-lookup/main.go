package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"strings"
	"sync/atomic"
)

type task struct {
	ID   int64  `json:"id"`
	User string `json:"user"`
	UID  int    `json:"uid"`
	GID  int    `json:"gid"`

	Groups int `json:"groups"`
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	l := &lookup{memo: *form == "fixed", known: map[string]ids{}}
	var tasks atomic.Int64
	http.HandleFunc("/task", func(w http.ResponseWriter, r *http.Request) {
		var started []task
		for name := range strings.SplitSeq(r.FormValue("users"), ",") {
			id, err := l.find(name)
			if err != nil {
				http.Error(w, err.Error(), http.StatusNotFound)
				return
			}
			started = append(started, task{ID: tasks.Add(1), User: name, UID: id.uid, GID: id.gid, Groups: len(id.groups)})
		}
		json.NewEncoder(w).Encode(started)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
