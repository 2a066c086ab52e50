// Leak takes orders, a few thousand a second, and works out what each costs. Its
// forms do the same; most of them keep what they should let go.
//
// # What to look for
//
// The memory of the process rises, minute by minute, and the collector can do
// nothing about it: what survives each collection becomes more. A heap profile
// says what is held and by which line it was allocated.
//
//   - map: every order goes into a map, so that it is found when it is paid, and
//     nobody deletes it from there.
//   - goroutine: each order starts a goroutine that waits for its payment. One of
//     eight is never paid, and its goroutine waits for ever; what it refers to
//     stays with it.
//   - stuck: the same, ten minutes later. A dump says how long each has waited.
//   - quote: each order starts a goroutine that asks a carrier what the way costs.
//     One of eight answers is not waited for, and its sender waits for ever. Nobody
//     else knows its channel: Go 1.26 can prove that it never goes on.
//   - cache: prices are kept by customer and basket, which hardly ever come again:
//     a cache without a bound is a leak with another name.
//   - queue: orders wait to be delivered. While they come faster than they leave, the
//     heap grows like that of a leak; when the rush is over it comes back.
//   - fixed: the map lets go of orders that are paid, waiting has an end, and the
//     cache holds the last thousand.
//
// Watch it before it is killed:
//
//	loupe watch -limit 200MB -alert 'rss>50%' -once -- ./labs/leak -mode map
//
// Or record it, and look at what is in use:
//
//	loupe run -phases bare:20s,heap,goroutine ./labs/leak -mode cache
//
// Or let the heap graph say what holds it, from the variable on:
//
//	loupe run -phases bare:20s,heap,core ./labs/leak -mode map
//
// Or let Go search for goroutines that nothing can wake up, and see how fast they
// become more:
//
//	loupe run -phases growth,goroutineleak ./labs/leak -mode quote
package main
