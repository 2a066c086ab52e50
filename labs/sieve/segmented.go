package main

// window is how many numbers are sieved at a time: as many as the first-level
// cache has room for.
const window = 32 << 10

// segmented crosses out multiples, window by window.
func segmented(limit int) (primes []int) {
	composite := make([]bool, window)
	for low := 2; low < limit; low += window {
		clear(composite)
		high := min(low+window, limit)
		// Those of earlier windows first, then each that this one brings.
		for _, p := range primes {
			if p*p >= high {
				break
			}
			crossOut(composite, p, low, high)
		}
		for n := low; n < high; n++ {
			if !composite[n-low] {
				primes = append(primes, n)
				crossOut(composite, n, low, high)
			}
		}
	}
	return primes
}

// crossOut marks the multiples of p from low up to high. Those below p*p have
// a smaller factor and are marked already.
func crossOut(composite []bool, p, low, high int) {
	first := max(p*p, (low+p-1)/p*p)
	for n := first; n < high; n += p {
		composite[n-low] = true
	}
}
