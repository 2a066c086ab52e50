package main

import (
	"sync"
	"time"
)

type event struct {
	Title string
	Zone  string
	Start time.Time
}

type entry struct {
	Title string `json:"title"`
	Local string `json:"local"`
}

type calendar struct {
	keep  bool
	zones sync.Map
}

func (c *calendar) zone(name string) (*time.Location, error) {
	if c.keep {
		if loc, ok := c.zones.Load(name); ok {
			return loc.(*time.Location), nil
		}
	}
	loc, err := time.LoadLocation(name)
	if err == nil && c.keep {
		c.zones.Store(name, loc)
	}
	return loc, err
}

func (c *calendar) agenda(events []event) ([]entry, error) {
	entries := make([]entry, 0, len(events))
	for _, e := range events {
		loc, err := c.zone(e.Zone)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{Title: e.Title, Local: e.Start.In(loc).Format(time.RFC1123)})
	}
	return entries, nil
}
