// Mandelbrot paints the Mandelbrot set into a PNG. Each of its million pixels
// can be computed without the others; the forms (-mode) differ only in how
// they spread that work over goroutines, and paint the same picture.
//
// # What to look for
//
// A profile says the same of every form: the time is spent in fractal.steps.
// That is right, and no help. What the forms do to the scheduler is seen in an
// execution trace.
//
//   - seq: one P works from start to end, and the others are idle.
//   - px: a goroutine for each pixel. All Ps are busy, but the program takes
//     two to three times the CPU time of seq: most goroutines live shorter
//     than it takes to start them.
//   - row: a goroutine for each row. As simple, a thousand times fewer, and as
//     fast as there are Ps.
//   - workers: one goroutine gets pixel after pixel from another over an
//     unbuffered channel. The two take turns.
//   - workers4: with -workers 4 there are more to wait for each other: the
//     producer can serve one at a time.
//   - buffered: the same four with room for all pixels in the channel. Hardly
//     anybody waits.
//   - batched: the channel is unbuffered as before, but a message is a row.
//
// Either of the last two repairs the workers; the second also without eight
// megabytes of buffer.
//
//	loupe run -phases bare,trace ./labs/mandelbrot -mode seq
//	loupe run -rounds 5 -phases bare ./labs/mandelbrot -mode workers -workers 4
//
// Or without loupe, as the program can also trace itself:
//
//	go run ./labs/mandelbrot -mode px -trace trace.out -o mandelbrot.png
//	go tool trace trace.out
package main
