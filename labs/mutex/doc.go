// Mutex counts the words of pages that it fetches over HTTP. Sixteen readers
// share a cache of pages, and the words that they find come into one table.
//
// # What to look for
//
// Every form fetches each page once and finds the same words. They differ in
// what happens while a lock is held.
//
//   - held: the cache is locked while a missing page is fetched. As long as
//     one reader waits for the network all others wait for it, also those
//     whose pages are there: there are sixteen readers, and they work like
//     one. In a dump of the goroutines one is in http.Get and fifteen are in
//     Mutex.Lock; a block profile has the same line with nearly all the time.
//   - each: pages are fetched without a lock, but the table is locked for
//     each word. Nobody holds the lock for long, and yet the readers meet at
//     it all the time, for they hardly do anything else.
//   - fixed: pages are fetched without a lock, by the first who asks, while
//     others wait for that page alone; every reader has a table of its own,
//     and they are added up at the end.
//
// A block profile says where goroutines wait, at the line with Lock; a mutex
// profile says who made them wait, at the line with Unlock.
//
//	go test -run TestModes -blockprofile block.out -mutexprofile mutex.out -mutexprofilefraction 1 -o mutex.test ./labs/mutex
//	loupe pprof -list heldCache mutex.test block.out
//	loupe pprof -list heldCache mutex.test mutex.out
//
// The program as a whole:
//
//	loupe run -phases bare,goroutine,block,mutex,trace ./labs/mutex -mode held
//	loupe run -phases bare,block,mutex,trace ./labs/mutex -mode each
//	loupe run -phases bare,block,mutex,trace ./labs/mutex -mode fixed
package main
