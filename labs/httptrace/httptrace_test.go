package main

import (
	"strings"
	"testing"
)

// TestForms: a client that closes early dials for every request, one that reads
// to the end once; both see all phases.
func TestForms(t *testing.T) {
	const n = 8
	for mode, read := range modes {
		p, err := visit(n, read)
		if err != nil {
			t.Fatal(err)
		}
		text := p.String()
		dials := len(p.times["handshake"])
		if mode == "fresh" && (dials != n || p.reused != 0) || mode == "reused" && (dials != 1 || p.reused != n-1) {
			t.Errorf("%s: %d handshakes of %d requests:\n%s", mode, dials, n, text)
		}
		if len(p.total) != n || len(p.times["answer"]) != n || !strings.Contains(text, "  wait ") {
			t.Errorf("%s: phases are missing:\n%s", mode, text)
		}
	}
}
