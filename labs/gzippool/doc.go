// Gzippool is the part of a service that answers a monitoring system: again
// and again it writes its metrics as text and compresses them.
//
// # What to look for
//
// A gzip.Writer is not small: the tables in which package flate looks for
// repetitions take about 800 KB, and the first Write allocates all of it,
// whether a kilobyte follows or a gigabyte. The slow form makes a writer for
// each answer. In a profile of allocations nearly all bytes come from
// flate.NewWriter, on a line of the program that calls gzip.(*Writer).Write;
// a profile of the CPU shows far less of it, for clearing memory and
// collecting it is cheap beside compressing. The fixed form keeps writers and
// buffers in a sync.Pool and calls Reset.
//
//   - slow: gzip.NewWriter for each answer.
//   - fixed: a writer and a buffer of a pool for each answer.
//
// What each answer allocates, and the program as a whole:
//
//	go test -run none -bench . -benchmem ./labs/gzippool
//	loupe run -phases bare,cpu,allocs ./labs/gzippool -mode slow
//	loupe run -phases bare,cpu,allocs ./labs/gzippool -mode fixed
package main
