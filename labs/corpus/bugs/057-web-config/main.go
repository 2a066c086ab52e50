package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

func writeConfig(name string) error {
	var users, suites []string
	for i := range 40 {
		users = append(users, fmt.Sprintf("%q: %q", fmt.Sprintf("user%d", i), strings.Repeat("$2b$12$hash", 5)))
		suites = append(suites, fmt.Sprintf("%q", fmt.Sprintf("TLS_SUITE_%d", i)))
	}
	text := fmt.Sprintf(`{"http_headers": {"X-Frame-Options": "deny"}, "basic_auth_users": {%s},
		"tls_server_config": {"cert_file": "server.crt", "cipher_suites": [%s]}}`, strings.Join(users, ","), strings.Join(suites, ","))
	return os.WriteFile(name, []byte(text), 0o600)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen at")
	form := flag.String("form", "slow", "slow or fixed")
	flag.Parse()
	dir, err := os.MkdirTemp("", "web")
	if err != nil {
		log.Fatal(err)
	}
	cfg := &watcher{name: filepath.Join(dir, "web.json"), reuse: *form == "fixed"}
	if err := writeConfig(cfg.name); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
		c, err := cfg.config()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for k, v := range c.Headers {
			w.Header().Set(k, v)
		}
		io.WriteString(w, "process_cpu_seconds_total 12.5\nprocess_open_fds 9\n")
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
