package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	m := &manager{direct: *form == "fixed", rules: map[string][]*Rule{}}
	for i := range 30 {
		m.rules["g1"] = append(m.rules["g1"], &Rule{
			GroupID: "g1", ID: fmt.Sprintf("r%d", i), Index: i, Role: "voter", Count: 3,
			StartKey:    fmt.Appendf(nil, "%08d", i),
			EndKey:      fmt.Appendf(nil, "%08d", i+1),
			Constraints: []constraint{{Key: "zone", Op: "in", Values: []string{"z1", "z2"}}, {Key: "disk", Op: "in", Values: []string{"ssd"}}},
			Locations:   []string{"zone", "rack", "host"},
		})
	}
	http.HandleFunc("/rules", func(w http.ResponseWriter, r *http.Request) {
		replicas := 0
		rules := m.group(r.FormValue("group"))
		for _, rule := range rules {
			rule.Count++
			replicas += rule.Count
		}
		fmt.Fprintln(w, len(rules), "rules,", replicas, "replicas")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
