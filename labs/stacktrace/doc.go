// Stacktrace fails on purpose, and leaves a stack trace to read: what the words
// behind the functions are, and how the goroutines of a server are found out.
//
// # What to look for
//
//   - words: a slice, a string and an integer are passed to example, and something
//     that it calls panics. The trace says main.example({0x…, 0x2, 0x4}, {0x…,
//     0x5}, 0xa): the slice is an address, its length and its capacity, the
//     string an address and its length, and 0xa is 10.
//   - packed: three bools and a byte. Go 1.17 and later print four words. Before,
//     arguments were shown as they lie in memory, and the four share one word:
//     0xa19010001 is, from the right, 01 true, 00 false, 01 true, 19 the number 25;
//     what stands before it is of nobody.
//   - bodies: the same service as server, but each request asks another service what
//     it has to say and does not close the answer: its connection, two goroutines and
//     a file stay.
//   - server: a web service that answers POST /sendjson, to be sent a signal while
//     it is under load.
//
// The program says what the words are, and loupe reads it: with names and types,
// the text of the string, and what is in interfaces.
//
//	go build -o stacktrace.exe ./labs/stacktrace
//	./stacktrace.exe -mode words 2> words.txt
//	loupe stacks -binary stacktrace.exe words.txt
//	./stacktrace.exe -mode packed 2> packed.txt
//	loupe stacks -binary stacktrace.exe packed.txt
//
// In both the function that panics is called by the one that is looked at, which
// still needs its arguments. That matters: Go marks words with ? whose argument is
// not needed any more, since their place in memory may hold anything. A build
// with -gcflags='all=-N -l' keeps all of them.
//
// The server, its load, and Ctrl-\ (or kill -QUIT) in the shell of the first:
//
//	GOTRACEBACK=all ./stacktrace.exe -mode server 2> quit.txt
//	loupe load -m POST -c 8 -n 1000000 "http://localhost:4000/sendjson"
//	loupe stacks -binary stacktrace.exe -full quit.txt
//
// It holds every fourth request for a while, so that there is somebody to see: the
// goroutines that handle a request stand together in one group, and their words
// say which route they are on. Recorded, the server is one with nothing to find:
//
//	loupe run -m POST -n 20000 -c 8 -load http://localhost:4000/sendjson ./labs/stacktrace -mode server
package main
