package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

type deployment struct {
	BuildInfo   map[string]any `json:"build_info"`
	Config      map[string]any `json:"config"`
	Experiments map[string]any `json:"experiments"`
	Health      map[string]any `json:"health"`
	Regions     map[string]any `json:"regions"`
}

type gatherer struct {
	base   string
	client *http.Client
}

func (g *gatherer) get(path string, into *map[string]any) error {
	resp, err := g.client.Get(g.base + path)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", path, err)
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

func (g *gatherer) deployment() (d deployment, err error) {
	if err = g.get("/buildinfo", &d.BuildInfo); err != nil {
		return d, err
	}
	if err = g.get("/config", &d.Config); err != nil {
		return d, err
	}
	if err = g.get("/experiments", &d.Experiments); err != nil {
		return d, err
	}
	if err = g.get("/health", &d.Health); err != nil {
		return d, err
	}
	err = g.get("/regions", &d.Regions)
	return d, err
}

func (g *gatherer) deploymentWide() (d deployment, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for path, into := range map[string]*map[string]any{
		"/buildinfo": &d.BuildInfo, "/config": &d.Config, "/experiments": &d.Experiments,
		"/health": &d.Health, "/regions": &d.Regions,
	} {
		wg.Go(func() {
			if e := g.get(path, into); e != nil {
				mu.Lock()
				err = e
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return d, err
}
