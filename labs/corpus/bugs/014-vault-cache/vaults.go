package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

type vault struct {
	Address string  `json:"address"`
	Symbol  string  `json:"symbol"`
	TVL     float64 `json:"tvl"`
	APY     float64 `json:"apy"`
}

type vaults struct {
	chain  string
	client *http.Client
}

func (v *vaults) all() ([]byte, error) {
	raw, err := v.fetch("/vaults")
	if err != nil {
		return nil, err
	}
	var list []vault
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for i := range list {
		list[i].APY = list[i].TVL / 1e4
	}
	return json.Marshal(list[:20])
}

func (v *vaults) fetch(path string) ([]byte, error) {
	resp, err := v.client.Get(v.chain + path)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("chain: %s", resp.Status)
	}
	return io.ReadAll(resp.Body)
}
