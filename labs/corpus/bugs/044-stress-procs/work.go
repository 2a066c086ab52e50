package main

import (
	"crypto/sha256"
	"encoding/json"
	"strconv"
)

type result struct {
	ID     int    `json:"id"`
	Digest string `json:"digest"`
	OK     bool   `json:"ok"`
}

func verify(id int) result {
	sum := sha256.Sum256([]byte(strconv.Itoa(id)))
	for range 400 {
		sum = sha256.Sum256(sum[:])
	}
	r := result{ID: id, Digest: strconv.QuoteToASCII(string(sum[:8])), OK: sum[0] > 10}
	if text, err := json.Marshal(r); err != nil || len(text) == 0 {
		r.OK = false
	}
	return r
}
