package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

type publisher struct {
	log    string
	client *http.Client
}

type sct struct {
	Version   int    `json:"sct_version"`
	ID        string `json:"id"`
	Timestamp int64  `json:"timestamp"`
}

func newPublisher(log string, perHost int) *publisher {
	tr := &http.Transport{
		MaxIdleConns:        100,
		MaxIdleConnsPerHost: perHost,
		IdleConnTimeout:     30 * time.Second,
	}
	return &publisher{log: log, client: &http.Client{Transport: tr, Timeout: 5 * time.Second}}
}

func (p *publisher) submit(cert []byte) (sct, error) {
	sum := sha256.Sum256(cert)
	body, err := json.Marshal(map[string]any{"chain": [][]byte{cert, sum[:]}})
	if err != nil {
		return sct{}, err
	}
	resp, err := p.client.Post(p.log+"/ct/v1/add-chain", "application/json", bytes.NewReader(body))
	if err != nil {
		return sct{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return sct{}, fmt.Errorf("ct log: %s", resp.Status)
	}
	var s sct
	return s, json.NewDecoder(resp.Body).Decode(&s)
}
