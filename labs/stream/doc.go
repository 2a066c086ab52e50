// Stream corrects a name in a stream of short messages: wherever "elvis"
// stands, however the stream is cut, "Elvis" goes out. Two algorithms do it,
// and write the same bytes.
//
// # What to look for
//
// Algorithm one reads a window of five bytes through an io.Reader and moves it
// on byte by byte. Both of its values could live on the stack, and neither
// does: io.ReadFull takes an interface, and what is passed to a method of an
// interface escapes, for the compiler cannot know which method it will be. So
// every message costs two allocations, the bytes.Buffer and the window; a
// profile names the two lines, and loupe pprof -why the reason.
//
// Algorithm two keeps no window but a number, how many bytes of the name have
// been matched, and calls nothing that wants an interface: no allocations, and
// a fraction of the time.
//
//   - one: bytes.Buffer and io.ReadFull.
//   - two: a state, byte by byte.
//
// First the allocations of each, then the program as a whole, then the reason:
//
//	go test -run none -bench . -benchmem ./labs/stream
//	loupe run -phases bare,cpu,allocs ./labs/stream -mode one
//	go test -run none -bench One -memprofile mem.out -memprofilerate 1 -o stream.test ./labs/stream
//	loupe pprof -list "replaceOne|bytes.NewBuffer" -why -alloc_space stream.test mem.out
package main
