package main

import (
	"encoding/json"
	"slices"
	"sync"
)

type Rule struct {
	GroupID     string       `json:"group_id"`
	ID          string       `json:"id"`
	Index       int          `json:"index,omitempty"`
	StartKey    []byte       `json:"-"`
	EndKey      []byte       `json:"-"`
	Role        string       `json:"role"`
	Count       int          `json:"count"`
	Constraints []constraint `json:"label_constraints,omitempty"`
	Locations   []string     `json:"location_labels,omitempty"`
}

type constraint struct {
	Key    string   `json:"key"`
	Op     string   `json:"op"`
	Values []string `json:"values"`
}

func (r *Rule) String() string {
	b, _ := json.Marshal(r)
	return string(b)
}

func (r *Rule) clone() *Rule {
	var c Rule
	json.Unmarshal([]byte(r.String()), &c)
	c.StartKey, c.EndKey = slices.Clone(r.StartKey), slices.Clone(r.EndKey)
	return &c
}

func (r *Rule) duplicate() *Rule {
	c := *r
	c.StartKey, c.EndKey = slices.Clone(r.StartKey), slices.Clone(r.EndKey)
	c.Constraints = slices.Clone(r.Constraints)
	for i, k := range c.Constraints {
		c.Constraints[i].Values = slices.Clone(k.Values)
	}
	c.Locations = slices.Clone(r.Locations)
	return &c
}

type manager struct {
	direct bool
	mu     sync.RWMutex
	rules  map[string][]*Rule
}

func (m *manager) group(id string) []*Rule {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []*Rule
	for _, r := range m.rules[id] {
		if m.direct {
			out = append(out, r.duplicate())
		} else {
			out = append(out, r.clone())
		}
	}
	return out
}
