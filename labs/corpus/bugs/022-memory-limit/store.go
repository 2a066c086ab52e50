package main

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
)

type session struct {
	ID    string
	User  *user
	Items []*item
}

type user struct {
	Name  string
	Roles []string
}

type item struct {
	SKU   string
	Count int
}

type store struct {
	mu       sync.Mutex
	sessions []*session
}

func newSession() *session {
	var id [16]byte
	rand.Read(id[:])
	s := &session{ID: hex.EncodeToString(id[:]), User: &user{Name: "user " + hex.EncodeToString(id[:4]), Roles: []string{"buyer", "reader"}}}
	for i := range 8 {
		s.Items = append(s.Items, &item{SKU: hex.EncodeToString(id[i : i+4]), Count: i})
	}
	return s
}

func newStore(n int) *store {
	s := &store{}
	for range n {
		s.sessions = append(s.sessions, newSession())
	}
	return s
}

func (s *store) replace(n int) *session {
	fresh := newSession()
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.sessions[n%len(s.sessions)]
	s.sessions[n%len(s.sessions)] = fresh
	return old
}
