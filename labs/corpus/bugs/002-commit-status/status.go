package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

type statusStore struct {
	base   string
	client *http.Client
}

func (s *statusStore) latest(sha string) (string, error) {
	states, err := s.latestOf([]string{sha})
	return states[sha], err
}

func (s *statusStore) latestOf(shas []string) (map[string]string, error) {
	resp, err := s.client.Get(s.base + "/status?sha=" + url.QueryEscape(strings.Join(shas, ",")))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status: %s", resp.Status)
	}
	var states map[string]string
	return states, json.NewDecoder(resp.Body).Decode(&states)
}

func database(w http.ResponseWriter, r *http.Request) {
	time.Sleep(time.Millisecond)
	states := map[string]string{}
	for sha := range strings.SplitSeq(r.FormValue("sha"), ",") {
		states[sha] = []string{"success", "failure", "pending"}[len(states)%3]
	}
	json.NewEncoder(w).Encode(states)
}
