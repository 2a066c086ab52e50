package main

import (
	"runtime"
	"testing"
	"time"
)

// TestModes: n numbers through k links are 0+k, 1+k, …
func TestModes(t *testing.T) {
	for _, links := range []int{0, 1, 2, 1000} {
		for _, numbers := range []int{0, 1, 2, 50} {
			want := numbers*links + numbers*(numbers-1)/2
			for name, add := range modes {
				if got := add(links, numbers); got != want {
					t.Errorf("%s: %d numbers through %d links: %d, want %d", name, numbers, links, got, want)
				}
			}
		}
	}
}

// TestEnds: no goroutine is left behind.
func TestEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, add := range modes {
		add(100, 3)
	}
	// The last links have closed their channels and are about to return.
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left", runtime.NumGoroutine()-before)
		}
	}
}
