package main

import (
	"bytes"
	"fmt"
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

func read(name string) []byte {
	content := make([]byte, 0, 96<<10)
	for len(content) < 95<<10 {
		content = fmt.Appendf(content, "%s: line of a configuration, %d bytes so far\n", name, len(content))
		if len(content)%5 == 0 {
			content = append(content, "token: AKIA0123456789ABCDEF\n"...)
		}
	}
	return content
}

func (s *scanner) scan(name string) int {
	content := read(name)
	at := bytes.Index(content, []byte("AKIA"))
	if at < 0 {
		return 0
	}
	from, to := max(0, at-20), min(len(content), at+20)
	snippet := content[from:to]
	if s.detach {
		snippet = bytes.Clone(snippet)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.matches = append(s.matches, match{File: name, Offset: at, Snippet: snippet})
	return len(s.matches)
}
