// Httptrace is a client that asks a service on the same machine, over TLS, for a
// page again and again, and times the phases of each request with
// net/http/httptrace: lookup, connect, handshake, request out, the wait for the
// first byte, the answer in.
//
// # What to look for
//
// The client looks at the first bytes of each page and closes the body. A body
// that has not been read to its end makes its connection useless: net/http drops
// it, and the next request dials and shakes hands anew. The code looks right, and
// nothing fails; only the phases show it, and the CPU profile, in which both
// sides compute certificates instead of pages.
//
//   - fresh: the body is closed where the client has seen enough. Every request
//     has a connect and a handshake, and waits for them.
//   - reused: the rest of the body is read first. One connection serves all
//     requests, and what costs is what has to: the system calls that send the
//     page (CP04).
//
// What the lab prints, loupe load prints of any service, without a line of code:
//
//	loupe load -n 3 -o trace https://localhost:8443/page
//	loupe run -phases bare,cpu ./labs/httptrace -mode fresh
//	go run ./labs/httptrace -mode reused
//	go run ./labs/httptrace -serve localhost:8443
package main
