package target

import (
	"math/bits"
	"math/rand/v2"
	"time"
)

// Values are what templates fill in for one request after the other. Each
// thread has its own; they allocate nothing while requests go by.
type Values struct {
	seq    int64
	rng    rand.PCG
	chosen uint64 // draws the row of this request
	// Clock gives {{now}}; time.Now when nil.
	Clock func() time.Time
}

// NewValues returns the values of a thread. Threads with different seeds have
// different random values; the same seed gives the same ones again.
func NewValues(seed uint64) *Values {
	v := &Values{}
	v.rng.Seed(seed, 0x6c6f757065) // the second word tells streams of one seed apart
	return v
}

// Begin goes on to the request with the given number in the run, from 0. Each
// number is that of one request in all threads together: it picks the lines
// and rows that the request takes.
func (v *Values) Begin(seq int64) {
	v.seq = seq
	v.chosen = v.rng.Uint64()
}

// Seq returns the number of the request.
func (v *Values) Seq() int64 { return v.seq }

func (v *Values) now() time.Time {
	if v.Clock != nil {
		return v.Clock()
	}
	return time.Now()
}

// row picks one of n rows: the same for every template of a request.
func (v *Values) row(n int, scattered bool) int {
	if scattered {
		high, _ := bits.Mul64(v.chosen, uint64(n))
		return int(high)
	}
	return int(uint64(v.seq) % uint64(n))
}

// between returns a random number of those from low to high.
func (v *Values) between(low, high int64) int64 {
	span := uint64(high) - uint64(low) + 1
	if span == 0 { // all of them
		return int64(v.rng.Uint64())
	}
	// Lemire's method, without its rejection: the bias is below span/2^64.
	above, _ := bits.Mul64(v.rng.Uint64(), span)
	return int64(uint64(low) + above)
}

const hexDigits = "0123456789abcdef"

// appendUUID appends a random UUID (RFC 9562, version 4).
func (v *Values) appendUUID(dst []byte) []byte {
	high, low := v.rng.Uint64(), v.rng.Uint64()
	high = high&^(0xf<<12) | 4<<12
	low = low&^(3<<62) | 2<<62
	for i := 60; i >= 0; i -= 4 {
		dst = append(dst, hexDigits[high>>i&0xf])
		if i == 32 || i == 16 {
			dst = append(dst, '-')
		}
	}
	dst = append(dst, '-')
	for i := 60; i >= 0; i -= 4 {
		dst = append(dst, hexDigits[low>>i&0xf])
		if i == 48 {
			dst = append(dst, '-')
		}
	}
	return dst
}
