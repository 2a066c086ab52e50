// Package plan says when requests are due in an open loop: at a constant rate,
// in stages, at random, or at the times of a recorded list. A plan knows nothing
// of connections, and never moves: a service that stalls does not slow it down.
package plan

import "time"

// Turn is the turn of one request.
type Turn struct {
	// Due is when the request is to be sent, since the start of the run.
	Due time.Duration
	// Target is the number of what to send, or AnyTarget.
	Target int
}

// AnyTarget leaves it to the run which of its targets to send.
const AnyTarget = -1

// Turns hands out the turns of one thread, in ascending order of Due, until
// there are none left. It allocates nothing.
type Turns interface {
	Next() (t Turn, ok bool)
}

// Plan is a schedule that several threads can work through together.
type Plan interface {
	// Part returns the turns of thread i of the given number; all parts
	// together are the plan.
	Part(i, of int) Turns
	// Peak is the highest rate, in requests a second.
	Peak() float64
	// String describes the plan in a few words: "1,000/s", "0 to 5,000/s in
	// 3 stages".
	String() string
}
