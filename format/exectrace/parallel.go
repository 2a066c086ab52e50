package exectrace

import "sync"

// Parallel reads the generations of a trace side by side, n at a time: visit
// is called once for each, from several goroutines, with a reader that has the
// events of that generation alone, between two syncs. Every generation tells
// the state of all goroutines anew, so that each can be read without the
// others. But a state is Undetermined before it is told, a P that was in a
// system call since before is Idle, a task that ends has no name if it began
// before; ids of names and stacks and slots are the reader's own, and an
// event's time may differ by some nanoseconds from that of [Trace.Reader]
// where the generations overlap.
//
// It returns the first error of a visit, in the order of the generations.
// Formats before 1.22 have one generation.
func (t *Trace) Parallel(n int, visit func(generation int, r *Reader) error) error {
	count := max(1, len(t.index.gens))
	errs := make([]error, count)
	next := make(chan int)
	var done sync.WaitGroup
	for range min(max(n, 1), count) {
		done.Go(func() {
			for i := range next {
				r := t.ReaderAt(i)
				r.place.until = i + 1
				errs[i] = visit(i, r)
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
