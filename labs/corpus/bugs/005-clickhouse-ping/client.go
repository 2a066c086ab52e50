package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

type client struct {
	url   string
	http  *http.Client
	drain bool
}

func (c *client) exec(query string) error {
	resp, err := c.http.Post(c.url, "text/plain", strings.NewReader(query))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		msg, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("clickhouse: %s", msg)
	}
	if c.drain {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return err
}
