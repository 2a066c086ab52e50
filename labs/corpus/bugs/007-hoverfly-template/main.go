package main

import (
	"flag"
	"log"
	"net/http"
)

const booking = `{
  "bookingId": "{{ .Query.Get "name" | upper }}",
  "created": "{{ iso8601 4 }}",
  {{- if eq .Method "GET" }}
  "origin": "{{ .Host }}", "destination": "{{ .Query.Get "to" }}",
  {{- else }}
  "error": "method {{ .Method }} is not simulated",
  {{- end }}
  "legs": [{{ range $i, $leg := .Legs }}{{ if $i }}, {{ end }}
    {"from": "{{ $leg }}", "gate": "{{ $i | printf "%c%d" 65 }}", "on": "{{ iso8601 $i }}"}{{ end }}
  ],
  "path": "{{ .Legs | join "-" }}"
}
`

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	r := newRenderer(*form == "fixed")
	http.HandleFunc("/simulate", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		err := r.render(w, simulation{path: "/simulate", body: booking}, map[string]any{
			"Method": req.Method,
			"Host":   req.Host,
			"Query":  req.URL.Query(),
			"Legs":   []string{"LHR", "OSL"},
		})
		if err != nil {
			log.Println(err)
		}
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
