// Command bench measures what putting load on a service costs, and how true it
// is, against wrk, hey, oha and bombardier where they are installed.
//
//	go run ./capture/load/loadtest/bench                      all of it
//	go run ./capture/load/loadtest/bench -only cpu -c 50,100 -rounds 6
//	go run ./capture/load/loadtest/bench -only stall
//
// A server of its own answers every request with 13 bytes. It is pinned to one
// CPU and the generators, one after the other in turns, to another, so that
// their CPU times are those of one core. It prints tables for
// docs/benchmarks.md. It runs on Linux alone.
package main
