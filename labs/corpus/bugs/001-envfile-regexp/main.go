package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
)

func environment(service string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\nexport BASE=/srv/%s\n", service, service)
	for i := range 24 {
		fmt.Fprintf(&b, "OPTION_%d = \"${BASE}/data/%d\"\n", i, i)
	}
	return b.String()
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	l := &loader{shared: *form == "fixed"}
	http.HandleFunc("/env", func(w http.ResponseWriter, r *http.Request) {
		vars, err := l.parse(strings.NewReader(environment(r.FormValue("service"))))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		json.NewEncoder(w).Encode(vars)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
