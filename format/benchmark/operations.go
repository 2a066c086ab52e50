package benchmark

import (
	"bytes"

	"golang.org/x/perf/benchfmt"
)

// Operations is the smallest number of operations that a benchmark has run in an output of go
// test -bench; 0 where there is none.
func Operations(data []byte) (least int) {
	r := benchfmt.NewReader(bytes.NewReader(data), "")
	for r.Scan() {
		if one, ok := r.Result().(*benchfmt.Result); ok && one.Iters > 0 && (least == 0 || one.Iters < least) {
			least = one.Iters
		}
	}
	return least
}
