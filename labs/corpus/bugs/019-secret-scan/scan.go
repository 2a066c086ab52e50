package main

import (
	"bytes"
	"os"
	"sync"
)

type match struct {
	File    string
	Offset  int
	Snippet []byte
}

type scanner struct {
	detach  bool
	mu      sync.Mutex
	matches []match
}

func (s *scanner) scan(name string) (int, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	at := bytes.Index(content, []byte("AKIA"))
	if at < 0 {
		return 0, nil
	}
	from, to := max(0, at-20), min(len(content), at+20)
	snippet := content[from:to]
	if s.detach {
		snippet = bytes.Clone(snippet)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.matches = append(s.matches, match{File: name, Offset: at, Snippet: snippet})
	return len(s.matches), nil
}
