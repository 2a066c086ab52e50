// Mandelweb serves the Mandelbrot set: each GET /mandelbrot paints the picture
// anew, in one of the ways of the lab mandelbrot (-mode), and sends the PNG.
//
// # What to look for
//
// A picture takes about 0.3 s of CPU time. What that means for those who ask
// for it depends on how many do, which no profile shows:
//
//   - light: one request a second. The service is idle two thirds of the time,
//     and yet nobody gets a picture sooner: one P paints, the others look on.
//   - rows: one request a second, painted by a goroutine for each row. The
//     same CPU time, but with two Ps an answer comes after 150 ms and no longer
//     after 340.
//   - overload: five workers want to send five requests a second each, 25 in
//     all, and two CPUs can paint seven. Most of an answer's time is waiting:
//     in a trace the goroutines of requests are runnable more than running,
//     and take turns of ten milliseconds. -mode row does not help here: there
//     is no idle P left.
//
// The load is that of hey -c 1 -q 1 and hey -c 5 -q 5: the rate is that of one
// worker, in hey as in loupe. loupe sends every request that was due in the ten
// seconds of its phase, late when it must, and counts the time that it waited
// for its turn: under overload the phase takes a minute, and the latency is as
// bad as it is for the user.
//
//	loupe run -phases bare,trace:5s -c 1 -q 1 -load http://localhost:8080/mandelbrot ./labs/mandelweb
//	loupe run -phases bare,trace:5s -c 5 -q 5 -load http://localhost:8080/mandelbrot ./labs/mandelweb
//
// The same by hand, while the service runs:
//
//	go run ./labs/mandelweb
//	loupe load -c 5 -n 1000 -q 5 http://localhost:8080/mandelbrot
//	curl -o trace.out 'http://localhost:8080/debug/pprof/trace?seconds=5'
//
// Ctrl-C or SIGTERM lets it answer what it has begun, and end.
package main
