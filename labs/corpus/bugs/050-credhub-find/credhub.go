package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

type credential struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

type client struct {
	base  string
	token string
	http  *http.Client
	drain bool
}

func (c *client) find(name string) (cred credential, err error) {
	req, err := http.NewRequest("GET", c.base+"/api/v1/data?name="+url.QueryEscape(name), nil)
	if err != nil {
		return cred, err
	}
	req.Header.Set("Authorization", "bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		return cred, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return cred, fmt.Errorf("credhub: %s", resp.Status)
	}
	err = json.NewDecoder(resp.Body).Decode(&cred)
	if c.drain && err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return cred, err
}
