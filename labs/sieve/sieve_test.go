package main

import (
	"math/big"
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestModes: every form finds the primes, and nothing but the primes.
func TestModes(t *testing.T) {
	for _, limit := range []int{-1, 0, 2, 3, 4, 30, 1000} {
		var want []int
		for n := 2; n < limit; n++ {
			if big.NewInt(int64(n)).ProbablyPrime(0) {
				want = append(want, n)
			}
		}
		for name, sieve := range modes {
			if got := sieve(limit); !slices.Equal(got, want) {
				t.Errorf("%s below %d: %v, want %v", name, limit, got, want)
			}
		}
	}
}

// TestWindows crosses the borders of windows, and counts as others did.
func TestWindows(t *testing.T) {
	primes := segmented(1_000_000)
	if len(primes) != 78498 || primes[len(primes)-1] != 999983 {
		t.Errorf("%d primes below a million", len(primes))
	}
	for _, limit := range []int{window + 1, window + 2, window + 3, 2*window + 2} {
		if got := segmented(limit); !slices.Equal(got, primes[:len(got)]) || primes[len(got)] < limit {
			t.Errorf("below %d: %d primes, the next is %d", limit, len(got), primes[len(got)])
		}
	}
}

// TestChainEnds: no goroutine is left when the primes are known.
func TestChainEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	chain(500, 0)
	// The last goroutines have closed their channels and are about to return.
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left of the chain", runtime.NumGoroutine()-before)
		}
	}
}
