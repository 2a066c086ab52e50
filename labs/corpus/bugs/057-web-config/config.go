package main

import (
	"encoding/json"
	"os"
	"sync"
	"time"
)

type config struct {
	Headers map[string]string `json:"http_headers"`
	Users   map[string]string `json:"basic_auth_users"`
	TLS     struct {
		Cert    string   `json:"cert_file"`
		Ciphers []string `json:"cipher_suites"`
	} `json:"tls_server_config"`
}

func readConfig(name string) (*config, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var c config
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	return &c, nil
}

type watcher struct {
	name    string
	reuse   bool
	mu      sync.Mutex
	last    *config
	changed time.Time
}

func (w *watcher) config() (*config, error) {
	if !w.reuse {
		return readConfig(w.name)
	}
	info, err := os.Stat(w.name)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil || !info.ModTime().Equal(w.changed) {
		if w.last, err = readConfig(w.name); err != nil {
			return nil, err
		}
		w.changed = info.ModTime()
	}
	return w.last, nil
}
