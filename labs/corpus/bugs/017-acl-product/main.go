package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
)

type authorizer struct {
	pull    bool
	actions []string
	grants  map[string]bool
}

func (a *authorizer) match(user string, groups, repos []string) (string, bool) {
	if a.pull {
		for c := range product(groups, repos, a.actions) {
			if key := user + "/" + strings.Join(c, ":"); a.grants[key] {
				return key, true
			}
		}
		return "", false
	}
	for c := range iter(groups, repos, a.actions) {
		if key := user + "/" + strings.Join(c, ":"); a.grants[key] {
			return key, true
		}
	}
	return "", false
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	a := &authorizer{
		pull:    *form == "fixed",
		actions: []string{"pull", "push", "delete"},
		grants:  map[string]bool{"ann/dev:app3:push": true},
	}
	var repos []string
	for i := range 400 {
		repos = append(repos, fmt.Sprintf("app%d", i))
	}
	http.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		grant, ok := a.match(r.FormValue("user"), []string{"dev", "ops"}, repos)
		if !ok {
			http.Error(w, "denied", http.StatusForbidden)
			return
		}
		json.NewEncoder(w).Encode(map[string]string{"grant": grant})
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
