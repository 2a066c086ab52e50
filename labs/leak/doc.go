// Leak takes orders, a few thousand a second, and works out what each costs. Four
// forms of it do the same; three of them keep what they should let go.
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
//   - cache: prices are kept by customer and basket, which hardly ever come again:
//     a cache without a bound is a leak with another name.
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
package main
