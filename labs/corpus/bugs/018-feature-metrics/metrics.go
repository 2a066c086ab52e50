package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

type metrics struct {
	url    string
	client *http.Client
	tidy   bool
	mu     sync.Mutex
	counts map[string]int
}

func (m *metrics) count(feature string) map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[feature]++
	return map[string]int{feature: m.counts[feature]}
}

func (m *metrics) report(counts map[string]int) error {
	body, err := json.Marshal(map[string]any{"appName": "shop", "bucket": counts})
	if err != nil {
		return err
	}
	resp, err := m.client.Post(m.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	if m.tidy {
		defer drain(resp.Body)
	}
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		return fmt.Errorf("%s returned %s", m.url, resp.Status)
	}
	return nil
}

func drain(body io.ReadCloser) {
	io.Copy(io.Discard, body)
	body.Close()
}
