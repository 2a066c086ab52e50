package main

import (
	"bytes"
	"sort"
)

type store struct {
	late   bool
	sorted bool
	keys   [][]byte
	values map[string]uint32
}

func newStore(late bool) *store {
	return &store{late: late, values: map[string]uint32{}}
}

func (s *store) set(key []byte, value uint32) {
	if _, ok := s.values[string(key)]; !ok {
		s.keys = append(s.keys, key)
		s.sorted = false
		if !s.late {
			sort.Slice(s.keys, func(i, j int) bool {
				return bytes.Compare(s.keys[i], s.keys[j]) < 0
			})
		}
	}
	s.values[string(key)] = value
}

func (s *store) order() {
	if !s.sorted {
		sort.Slice(s.keys, func(i, j int) bool { return bytes.Compare(s.keys[i], s.keys[j]) < 0 })
		s.sorted = true
	}
}

func (s *store) from(key []byte, n int) [][]byte {
	s.order()
	at := sort.Search(len(s.keys), func(i int) bool { return bytes.Compare(s.keys[i], key) >= 0 })
	return s.keys[at:min(len(s.keys), at+n)]
}
