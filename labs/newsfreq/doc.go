// Newsfreq counts in how many of many RSS documents a word occurs. It writes
// the documents into a folder of its own, the same ones in every run, opens,
// reads and decodes each of them, looks into its items, and removes the folder.
//
// # What to look for
//
// A profile of the form find says that encoding/xml takes nearly all of the
// time, and invites to look for a faster decoder. A trace says what the profile
// cannot: one goroutine works, on one P at a time, and on the other Ps there is
// nothing but the collector. (Its workers keep those Ps busy, which is why
// schedtrace does not see what is wrong.)
//
//   - find: one document after the other.
//   - fanout: a goroutine for each document. All Ps are busy; the run queues
//     hold hundreds of goroutines from the start, and would hold a million.
//   - sem: as many goroutines, but a semaphore lets one per P work. The others
//     wait at the semaphore instead of in the run queues.
//   - numcpu: a goroutine for each P, which takes document after document. As
//     fast as fanout, and the trace can be read.
//   - actor: a pipeline with a goroutine for each of the steps. It looks
//     parallel, and is hardly faster than find: decoding is nearly all of the
//     work, and has one goroutine.
//   - tasks: numcpu, with a task for each document and the regions OpenFile,
//     ReadAll, Unmarshal and Contents in it. Unmarshal takes more than four
//     fifths of a task, and ReadAll nearly all of the rest.
//
// The regions say of each document what the profile says of all together:
// where its time went, waiting included.
//
//	loupe run -phases bare,trace ./labs/newsfreq -mode find
//	go run ./labs/newsfreq -mode tasks -trace trace.out
//	go tool trace trace.out
package main
