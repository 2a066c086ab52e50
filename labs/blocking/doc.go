// Blocking asks a database: sixteen workers look up orders through one sql.DB
// and add up what they cost. The database is part of the program; each query
// takes it a millisecond, and each connection does one at a time.
//
// # What to look for
//
// The workers hardly compute, so that a CPU profile has nothing to say. A
// block profile says where goroutines wait for each other, and how long all
// together.
//
//   - one: the pool has one connection. Fifteen of sixteen workers wait in
//     database/sql.(*DB).conn until it is free, and what takes a millisecond
//     takes sixteen.
//   - all: the pool has a connection for each worker, and nobody waits for one.
//   - chan: as all, but the workers hand every single price over an unbuffered
//     channel to one goroutine that adds up. It is quick, and the wait for it
//     is small beside that for the database; a block profile names it, also
//     when it is no problem.
//
// Waiting for the database itself, as for any network, is no blocking in this
// sense: it is not in the profile.
//
//	go test -run TestModes -blockprofile block.out -mutexprofile mutex.out -mutexprofilefraction 1 -o blocking.test ./labs/blocking
//	loupe pprof -top -cum blocking.test block.out
//
// The program as a whole:
//
//	loupe run -phases bare,block,trace ./labs/blocking -mode one
//	loupe run -phases bare,block,trace ./labs/blocking -mode all
package main
