package main

import (
	"encoding/json"
	"hash/fnv"
	"strings"
	"sync"
)

type city struct {
	Country string            `json:"country"`
	City    string            `json:"city"`
	Lat     float64           `json:"lat"`
	Lon     float64           `json:"lon"`
	Names   map[string]string `json:"names"`
}

type server struct {
	limit int
	mu    sync.Mutex
	cache map[string][]byte
	order []string
}

func find(ip string) city {
	h := fnv.New32()
	h.Write([]byte(ip))
	n := h.Sum32()
	c := city{Country: string([]byte{'A' + byte(n%26), 'A' + byte(n/26%26)}), Lat: float64(n % 90), Lon: float64(n % 180)}
	c.City = strings.Repeat(c.Country, 4)
	c.Names = map[string]string{}
	for _, lang := range []string{"de", "en", "es", "fr", "ja", "pt-BR", "ru", "zh-CN"} {
		c.Names[lang] = c.City + " (" + lang + "), " + strings.Repeat(lang, 20)
	}
	return c
}

func (s *server) lookup(ip string) ([]byte, error) {
	s.mu.Lock()
	body := s.cache[ip]
	s.mu.Unlock()
	if body != nil {
		return body, nil
	}
	body, err := json.Marshal(find(ip))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache[ip] = body
	if s.limit > 0 {
		s.order = append(s.order, ip)
		if len(s.order) > s.limit {
			delete(s.cache, s.order[0])
			s.order = append(s.order[:0], s.order[1:]...)
		}
	}
	return body, nil
}
