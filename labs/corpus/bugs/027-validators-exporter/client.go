package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

type client struct {
	host   string
	shared *http.Client
}

func (c *client) httpClient() *http.Client {
	if c.shared != nil {
		return c.shared
	}
	return &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		Timeout:   10 * time.Second,
	}
}

func (c *client) get(path string, target any) error {
	resp, err := c.httpClient().Get(c.host + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(target)
}
