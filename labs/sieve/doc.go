// Sieve finds the primes below a limit: by a chain of goroutines, one for each
// prime, through which all numbers are passed, or by crossing out in an array.
//
// # What to look for
//
// In the form chain every goroutine reads numbers from an unbuffered channel
// and passes on those that its prime does not divide. A number goes through as
// many channels as it needs to meet its smallest factor; a prime goes through
// all. The division takes a nanosecond, the hand-over a hundred times that: a
// profile shows the runtime (chansend, chanrecv, schedule) and little else, a
// trace shows 2,300 goroutines that run for a microsecond at a time.
//
//   - chain: the sieve as it is told: short, beautiful, and all scheduling.
//   - buffered: the same chain with room for 256 numbers in each channel. A
//     goroutine now works through many before it sleeps: there are a hundred
//     times fewer switches, and it takes a quarter of the CPU time.
//   - segmented: no goroutine at all: multiples are crossed out in windows that
//     fit into the cache. Thousands of times faster; no tuning of channels
//     comes near another algorithm.
//
// Unlike the one that is usually shown, this chain ends: the source closes its
// channel at the limit, and each goroutine closes the next one.
//
//	loupe run -phases bare,cpu,trace ./labs/sieve -mode chain
//	go run ./labs/sieve -mode buffered -trace trace.out
package main
