package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

type client struct {
	base string
	http *http.Client
}

func newClient(base string, perHost int) *client {
	tr := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		MaxIdleConnsPerHost: perHost,
	}
	return &client{base: base, http: &http.Client{Transport: tr, Timeout: 10 * time.Second}}
}

func (c *client) price(sku string) (cents int, err error) {
	resp, err := c.http.Get(c.base + "/price?sku=" + url.QueryEscape(sku))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("price of %s: %s", sku, resp.Status)
	}
	return cents, json.Unmarshal(text, &cents)
}
