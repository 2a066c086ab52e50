// Sendjson is a web service that answers POST /sendjson with a list of users
// as JSON.
//
// # What to look for
//
// The answer has 24 users, and the slow form builds it anew for each request
// out of maps: every field is boxed in an interface, names and addresses are
// put together with fmt.Sprintf, package json sorts the keys of each map
// and looks up by reflection what is in it, and an encoder is made
// to write one value. None of it is visible in the answer, and all of it in a
// profile of allocations. The fixed form keeps the users as a slice of
// structs, with their names put together once, and takes an encoder with its
// buffer from a pool. The bytes that go out are the same.
//
// Watch the collector while the load runs: how often it runs, how much is
// alive after it, and above all how many requests are served between two
// collections. That number says what a request allocates, and it is the one
// that grows.
//
//   - slow: maps, fmt.Sprintf and an encoder for each request.
//   - fixed: structs that are made once, and an encoder of a pool.
//
// Both forms under load, compared:
//
//	loupe run -n 20000 -c 8 -m POST -load http://localhost:4000/sendjson ./labs/sendjson
//	loupe run -n 20000 -c 8 -m POST -load http://localhost:4000/sendjson ./labs/sendjson -mode fixed
//
// The same by hand. GODEBUG lets the runtime tell of its collections and of
// its scheduler, and a second shell sends the load:
//
//	go build -o sendjson.exe ./labs/sendjson
//	GODEBUG=gctrace=1,schedtrace=1000 ./sendjson.exe > /dev/null
//	loupe load -m POST -c 8 -n 1000000 "http://localhost:4000/sendjson"
//
// Ctrl-\ (or kill -QUIT) ends it with the stacks of all goroutines, and
// GOTRACEBACK=crash with those of the runtime as well: loupe stacks reads them.
// Ctrl-C or SIGTERM lets it answer what it has begun, and end.
package main
