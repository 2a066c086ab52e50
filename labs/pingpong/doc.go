// Pingpong lets two players, each a goroutine, hit balls to and fro over
// unbuffered channels. A hit is a step of a hash, so that every ball remembers
// who hit it, in which order.
//
// # What to look for
//
// There are two goroutines and two Ps could run them, but a player who has
// served waits for the answer: they take turns. A hit takes nanoseconds, and
// each one is followed by a park, a wake-up and a switch. In a trace either
// goroutine runs two million times, for well under a microsecond, woken by the
// other at the same line.
//
//   - single: each ball is played to its end before the next one.
//   - batched: the players throw a basket of 256 balls, hit every ball in it
//     and throw it back. There are as many hits and 256 times fewer switches.
//   - alone: one goroutine plays both sides: what the hits themselves take.
//
// The balls remember the same in every form: fewer hand-overs change no order
// that matters.
//
//	loupe run -phases bare,cpu,trace ./labs/pingpong -mode single
//	go run ./labs/pingpong -mode batched -trace trace.out
package main
