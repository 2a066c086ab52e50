// Daisy adds one to a number many times: by a daisy chain of goroutines, each
// of which waits for its neighbour, adds one, and tells its other neighbour.
//
// # What to look for
//
// In the form chain 50,000 goroutines are alive, and all but one are asleep:
// the number is in one place at a time. A dump shows 50,000 equal stacks in
// "chan receive", the metrics some 100 MB of stacks, a profile the scheduler
// with nothing to schedule. However many Ps there are, about one of them works,
// as in any pipeline with a single item in it.
//
//   - chain: one number at a time travels through the chain.
//   - stream: all numbers are on their way at once. The goroutines are as many,
//     but every P has something to do: it was not the chain that was slow.
//   - loop: no goroutine at all. An addition is no work to share.
//
// Both forms with a chain end it by closing the first channel.
//
//	loupe run -phases bare,goroutine,trace ./labs/daisy -mode chain
//	go run ./labs/daisy -mode loop -trace trace.out
package main
